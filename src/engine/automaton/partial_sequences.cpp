#include "engine/automaton/partial_sequences.hpp"

#include <algorithm>
#include <cassert>

namespace gorgo::engine {

void PartialSequences::add(Timestamp newest, std::span<const history::Slot> events,
                           std::uint64_t hash) {
  assert(events.size() == states_);
  assert(size() == 0 || items_[items_.end() - 1].newest <= newest);
  if (size() >= latest_.size()) grow();
  std::uint64_t& latest = latest_[bucket(hash)];
  items_.push_back({newest, hash, latest});
  latest = items_.end();
  for (const history::Slot event : events) events_.push_back(event);
}

void PartialSequences::drop_until(Timestamp timestamp) {
  std::uint64_t position = items_.begin();
  while (position < items_.end() && items_[position].newest <= timestamp) ++position;
  items_.drop_before(position);
  events_.drop_before(position * states_);
}

/// Chains everything anew, in twice as many buckets as there are partial sequences.
void PartialSequences::grow() {
  constexpr std::size_t kSmallest = 16;
  std::size_t buckets = kSmallest;
  while (buckets < 2 * size()) buckets *= 2;
  latest_.assign(buckets, 0);
  history::SlidingVector<Item> items;
  items.start_at(items_.begin());
  for (std::uint64_t position = items_.begin(); position < items_.end(); ++position) {
    Item item = items_[position];
    std::uint64_t& latest = latest_[bucket(item.hash)];
    item.previous = latest;
    latest = position + 1;
    items.push_back(item);
  }
  items_ = std::move(items);
}

}  // namespace gorgo::engine
