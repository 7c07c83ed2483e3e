#include "history/timeline.hpp"

#include <algorithm>

namespace gorgo::history {
namespace {

/// The first of [first, last) for which `is_behind` holds, as it does for all after it, looked for
/// from a guess on: steps that double, then halves. What is near the guess costs few cache lines.
template <class IsBehind>
const Timestamp* first_behind(const Timestamp* first, const Timestamp* last, const Timestamp* guess,
                              IsBehind is_behind) {
  std::ptrdiff_t step = 1;
  if (guess < last && !is_behind(*guess)) {
    first = guess + 1;
    while (last - first > step && !is_behind(first[step])) {
      first += step + 1;
      step *= 2;
    }
    if (last - first > step) last = first + step;
  } else {
    last = guess;
    while (last - first > step && is_behind(last[-step])) {
      last -= step;
      step *= 2;
    }
    if (last - first > step) first = last - step;
  }
  return std::partition_point(first, last, [&](Timestamp t) { return !is_behind(t); });
}

/// Where a timestamp would stand if they were evenly spaced.
const Timestamp* guess_of(const Timestamp* first, const Timestamp* last, Timestamp timestamp) {
  if (last - first < 2 || timestamp <= *first) return first;
  const double width = static_cast<double>(last[-1]) - static_cast<double>(*first);
  const double part = (static_cast<double>(timestamp) - static_cast<double>(*first)) / width;
  if (!(part < 1)) return last;
  return first + static_cast<std::ptrdiff_t>(part * static_cast<double>(last - first));
}

}  // namespace

void Timeline::materialise(std::span<const std::uint32_t> attributes) {
  for (const std::uint32_t index : attributes) {
    if (index >= attributes_.size()) attributes_.resize(index + 1);
    auto& attribute = attributes_[index];
    if (attribute) continue;
    attribute = store_.make_attribute(index, begin());
    attribute->append(
        end() - begin(),
        [&](std::size_t i) { return store_.attribute(slots_[begin() + i], index); },
        [](std::string_view text, std::size_t) { return text; });
  }
}

void Timeline::add(std::span<const Slot> slots) {
  for (const Slot slot : slots) {
    // Behind its equals in time, which have earlier places.
    const Timestamp timestamp = store_.timestamp(slot);
    const std::uint64_t position = first_after(timestamp);
    timestamps_.insert(position, timestamp);
    slots_.insert(position, slot);
    for (std::uint32_t i = 0; i < attributes_.size(); ++i) {
      if (attributes_[i]) attributes_[i]->insert(position, store_.attribute(slot, i));
    }
  }
}

std::uint64_t Timeline::first_after(Timestamp timestamp) const {
  if (begin() == end() || timestamps_[end() - 1] <= timestamp) return end();
  const Timestamp* const first = timestamps_.at(begin());
  const Timestamp* const last = timestamps_.at(end());
  return begin() + static_cast<std::uint64_t>(std::upper_bound(first, last, timestamp) - first);
}

void Timeline::drop_until(Timestamp timestamp) {
  const std::uint64_t position = first_after(timestamp);
  timestamps_.drop_before(position);
  slots_.drop_before(position);
  for (auto& attribute : attributes_) {
    if (attribute) attribute->drop_before(position);
  }
}

Range Timeline::window(Timestamp after, Timestamp before) const {
  const Timestamp* const first = timestamps_.at(begin());
  const Timestamp* const last = timestamps_.at(end());
  const auto* const from = first_behind(first, last, guess_of(first, last, after),
                                        [&](Timestamp t) { return t > after; });
  const auto* const to = first_behind(from, last, std::max(from, guess_of(first, last, before)),
                                      [&](Timestamp t) { return t >= before; });
  return {begin() + static_cast<std::uint64_t>(from - first),
          begin() + static_cast<std::uint64_t>(to - first)};
}

std::size_t Timeline::bytes() const {
  std::size_t total = timestamps_.bytes() + slots_.bytes();
  for (const auto& attribute : attributes_) total += attribute ? attribute->bytes() : 0;
  return total;
}

}  // namespace gorgo::history
