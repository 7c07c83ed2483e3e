#pragma once

#include <cstddef>
#include <string_view>

/// Texts of others whose values stand in each other a hundred thousand times: libraries walk
/// through them by calling themselves, which takes a stack of megabytes and ends the process.
namespace gorgo::codec {

/// Enough for every message that anybody writes on purpose.
inline constexpr std::size_t kDeepest = 100;

/// Whether a key of TOML has more parts than `kDeepest`: `a.b.c` has three.
bool is_deep_toml(std::string_view text);

}  // namespace gorgo::codec
