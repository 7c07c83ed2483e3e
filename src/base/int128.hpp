#pragma once

namespace gorgo {

/// Wide enough for every sum of int64 values that memory can hold.
__extension__ using Int128 = __int128;
__extension__ using UInt128 = unsigned __int128;

}  // namespace gorgo
