#include "history/posting.hpp"

namespace gorgo::history {

template <class F>
std::uint64_t Posting::partition_point(Range within, F&& is_beyond) const {
  while (within.first < within.last) {
    const std::uint64_t middle = within.first + (within.last - within.first) / 2;
    if (is_beyond(timestamp(middle))) {
      within.last = middle;
    } else {
      within.first = middle + 1;
    }
  }
  return within.first;
}

Range Posting::window(Timestamp after, Timestamp before) const {
  constexpr std::uint64_t kLinear = 8;  // up to so many events, a linear search is faster
  Range range{0, size_};
  if (size_ > kLinear) {
    range.first = partition_point(range, [&](Timestamp t) { return t > after; });
    range.last = partition_point(range, [&](Timestamp t) { return t >= before; });
    return range;
  }
  while (range.first < range.last && timestamp(range.first) <= after) ++range.first;
  while (range.first < range.last && timestamp(range.last - 1) >= before) --range.last;
  return range;
}

std::uint64_t Posting::first_after(Timestamp timestamp) const {
  return partition_point({0, size_}, [&](Timestamp t) { return t > timestamp; });
}

}  // namespace gorgo::history
