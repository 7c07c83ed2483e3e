#pragma once

#include <algorithm>
#include <cstdint>

namespace gorgo {

/// Has an ascending list of different numbers hold a number, or not. What is so already costs a
/// search and moves nothing; a change moves the numbers above.
template <class Numbers>
void hold(Numbers& list, std::uint32_t number, bool held) {
  const bool is_above = list.empty() || list.back() < number;
  const auto place = is_above ? list.end() : std::ranges::lower_bound(list, number);
  const bool is_held = place != list.end() && *place == number;
  if (held && !is_held) list.insert(place, number);
  if (!held && is_held) list.erase(place);
}

}  // namespace gorgo
