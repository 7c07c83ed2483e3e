#pragma once

#include <cstddef>
#include <vector>

namespace gorgo {

/// Empties a vector that is filled again and again. Its memory is kept for the next time, but not
/// what only an unusually large filling needs.
template <class T>
void clear_scratch(std::vector<T>& scratch) {
  constexpr std::size_t kKept = std::size_t{4} << 20;  // bytes
  if (scratch.capacity() * sizeof(T) > kKept) {
    std::vector<T>().swap(scratch);
  } else {
    scratch.clear();
  }
}

}  // namespace gorgo
