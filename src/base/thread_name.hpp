#pragma once

#include <string_view>

namespace gorgo {

/// Names the calling thread for those who look at the process from outside (`top -H`, debuggers,
/// profilers). Threads that it starts have the name, too, until they have one of their own.
void name_thread(std::string_view name) noexcept;
/// As one of several: `door plant`. Linux has room for 15 bytes: the name is cut for the first ten
/// bytes of `which`, and the rest of `which` is cut.
void name_thread(std::string_view name, std::string_view which) noexcept;

}  // namespace gorgo
