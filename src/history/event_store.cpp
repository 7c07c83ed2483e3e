#include "history/event_store.hpp"

#include <algorithm>
#include <cassert>

namespace gorgo::history {

EventStore::EventStore(const EventType& type) : nullable_(!type.strict()) {
  for (const auto& attribute : type.attributes) {
    attributes_.emplace_back(attribute.type, nullable_, 0);
  }
}

Slot EventStore::append(Timestamp timestamp, std::uint64_t root, std::span<const Datum> cells) {
  assert(cells.size() == attributes_.size());
  const Slot slot = end();
  late_ += timestamp < latest_ ? 1 : 0;
  latest_ = std::max(latest_, timestamp);
  timestamps_.push_back(timestamp);
  roots_.push_back(root);
  for (std::size_t i = 0; i < cells.size(); ++i) {
    Datum cell = cells[i];
    if (cell.tag == Datum::Tag::string) cell = Datum::of(strings_.add(cell.text(), slot));
    attributes_[i].push_back(cell);
  }
  return slot;
}

std::size_t EventStore::drop_until(Timestamp timestamp) {
  horizon_ = std::max(horizon_, timestamp);
  // A late event may stand behind later ones; it goes when they have gone.
  Slot slot = begin();
  while (slot < end() && timestamps_[slot] <= timestamp) ++slot;
  const std::size_t dropped = slot - begin();
  if (dropped == 0) return 0;
  timestamps_.drop_before(slot);
  roots_.drop_before(slot);
  for (auto& attribute : attributes_) attribute.drop_before(slot);
  strings_.drop_before(slot);
  while (!too_deep_.empty() && too_deep_.front() < slot) too_deep_.pop_front();
  return dropped;
}

AttributeVector EventStore::make_attribute(std::uint32_t index,
                                           std::uint64_t first_position) const {
  return {attributes_[index].type(), nullable_, first_position};
}

std::size_t EventStore::bytes() const {
  std::size_t total =
      timestamps_.bytes() + roots_.bytes() + strings_.bytes() + too_deep_.size() * sizeof(Slot);
  for (const auto& attribute : attributes_) total += attribute.bytes();
  return total;
}

}  // namespace gorgo::history
