#include "history/timeline.hpp"

#include <algorithm>

namespace gorgo::history {

void Timeline::materialise(std::span<const std::uint32_t> attributes) {
  for (const std::uint32_t index : attributes) {
    if (index >= attributes_.size()) attributes_.resize(index + 1);
    auto& attribute = attributes_[index];
    if (attribute) continue;
    attribute = store_.make_attribute(index, begin());
    for (std::uint64_t p = begin(); p < end(); ++p) {
      attribute->push_back(store_.attribute(slots_[p], index));
    }
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
  const Timestamp* const from = std::upper_bound(first, last, after);
  const Timestamp* const to = std::lower_bound(from, last, before);
  return {begin() + static_cast<std::uint64_t>(from - first),
          begin() + static_cast<std::uint64_t>(to - first)};
}

std::size_t Timeline::bytes() const {
  std::size_t total = timestamps_.bytes() + slots_.bytes();
  for (const auto& attribute : attributes_) total += attribute ? attribute->bytes() : 0;
  return total;
}

}  // namespace gorgo::history
