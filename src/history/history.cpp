#include "history/history.hpp"

#include <cassert>
#include <limits>

#include "base/arithmetic.hpp"

namespace gorgo::history {

void History::retain(const Schema& schema, const std::map<TypeId, Duration>& reach) {
  types_.resize(schema.size());
  for (TypeId type = 0; type < types_.size(); ++type) {
    Kept& kept = types_[type];
    const auto wanted = reach.find(type);
    if (wanted == reach.end()) {
      kept = {};
      continue;
    }
    if (!kept.store) kept.store = std::make_unique<EventStore>(schema.at(type));
    kept.reach = wanted->second;
    std::erase_if(kept.columns, [](const auto& entry) { return entry.second.use_count() == 1; });
  }
}

std::shared_ptr<const Column> History::column(const plan::ColumnSpec& spec) {
  assert(keeps(spec.type));
  Kept& kept = types_[spec.type];
  auto& column = kept.columns[spec.key];
  if (column) {
    column->materialise(spec.attributes);
  } else {
    column = std::make_shared<Column>(spec, *kept.store);
  }
  return column;
}

Slot History::append(TypeId type, Timestamp timestamp, std::uint64_t root,
                     std::span<const Datum> cells) {
  assert(keeps(type));
  Kept& kept = types_[type];
  const Slot slot = kept.store->append(timestamp, root, cells);
  for (auto& [key, column] : kept.columns) column->offer(slot);
  return slot;
}

void History::evict(Timestamp clock) {
  for (Kept& kept : types_) {
    // A reach that is the greatest of all may stand for a greater one: nothing is out of it.
    if (!kept.store || kept.reach == std::numeric_limits<Duration>::max()) continue;
    // Windows are open: an event exactly `reach` old is out of reach already.
    const Timestamp gone = arithmetic::saturating_subtract(clock, kept.reach);
    EventStore& store = *kept.store;
    // A late event may stand behind later ones; it goes when they have gone.
    Slot first = store.begin();
    while (first < store.end() && store.timestamp(first) <= gone) ++first;
    if (first == store.begin()) continue;
    for (auto& [key, column] : kept.columns) column->drop_until(gone);
    store.drop_before(first);
  }
}

std::size_t History::bytes(TypeId type) const {
  if (!keeps(type)) return 0;
  std::size_t total = types_[type].store->bytes();
  for (const auto& [key, column] : types_[type].columns) total += column->bytes();
  return total;
}

}  // namespace gorgo::history
