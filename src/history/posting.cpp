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

/// Looks at strides that double, from the end on (J. L. Bentley and A. C. Yao, "An almost optimal
/// algorithm for unbounded searching", 1976).
template <class F>
std::uint64_t Posting::first_near_end(F&& is_beyond) const {
  std::uint64_t last = size_, step = 1;
  while (step <= last && is_beyond(timestamp(last - step))) {
    last -= step;
    step *= 2;
  }
  return partition_point({step <= last ? last - step + 1 : 0, last}, is_beyond);
}

/// Most windows end near the newest event.
Range Posting::window(Timestamp after, Timestamp before) const {
  constexpr std::uint64_t kLinear = 8;  // up to so many events, a linear search is faster
  Range range{0, size_};
  if (size_ > kLinear) {
    range.last = first_near_end([&](Timestamp t) { return t >= before; });
    range.first = partition_point(range, [&](Timestamp t) { return t > after; });
    return range;
  }
  while (range.first < range.last && timestamp(range.first) <= after) ++range.first;
  while (range.first < range.last && timestamp(range.last - 1) >= before) --range.last;
  return range;
}

std::uint64_t Posting::first_after_near_end(Timestamp timestamp) const {
  return first_near_end([=](Timestamp t) { return t > timestamp; });
}

}  // namespace gorgo::history
