#include "dispatch/rules/table_rows.hpp"

#include <algorithm>
#include <limits>
#include <vector>

#include "history/table.hpp"

namespace gorgo::dispatch {
namespace {

struct Row {
  const EventType* table;  // the type of its events
  history::EventRef event;
};

}  // namespace

void copy_rows(const RuleSet& rules, const history::History& history,
               const std::function<bool(std::string_view table)>& wanted, BatchBuilder& into) {
  std::vector<Row> found;
  for (const TypeId id : rules.types().tables()) {
    const EventType& type = rules.schema().at(id);
    const EventType& table = rules.schema().at(type.members.front().type);
    if (!wanted(table.name)) continue;
    const history::EventStore& store = history.store(id);
    constexpr Timestamp kAll = std::numeric_limits<Timestamp>::max();
    for (const history::Slot slot : history::rows_to_stay(store, type.key, kAll)) {
      found.push_back({&table, {&store, slot}});
    }
  }
  std::ranges::stable_sort(found, {}, [](const Row& row) { return row.event.timestamp(); });
  for (const auto& [table, event] : found) {
    into.add(table->name, event.timestamp());
    for (std::uint32_t i = 0; i < table->attributes.size(); ++i) {
      into.attribute(table->attributes[i].name, event.store->attribute(event.slot, i));
    }
  }
}

}  // namespace gorgo::dispatch
