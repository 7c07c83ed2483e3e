#include "dispatch/evaluate/expected_records.hpp"

#include <algorithm>

namespace gorgo::dispatch {

void ExpectedRecords::start() {
  for (const TypeId type : types_) {
    lists_[type].is_known = false;
    lists_[type].records.clear();
  }
  types_.clear();
  lists_.resize(rules_.schema().size());
  const auto& records = wave_.batch().records;
  const auto size = static_cast<std::uint32_t>(records.size());
  for (std::uint32_t first = 0, last = 0; first < size; first = last) {
    const TypeId type = records[first].type;
    while (last < size && records[last].type == type) ++last;
    if (type != kNoType) add_everywhere(type, first, last);
  }
}

/// Adds the records [first, last), which are of this type.
void ExpectedRecords::add_everywhere(TypeId type, std::uint32_t first, std::uint32_t last) {
  add(type, first, last);
  for (const TypeId joint : rules_.joints_of(type)) add(joint, first, last);
}

ExpectedRecords::List* ExpectedRecords::list_of(TypeId type) {
  List& list = lists_[type];
  if (!list.is_known) {
    if (!history_.keeps(type)) return nullptr;
    types_.push_back(type);
    list.is_known = true;
  }
  return &list;
}

void ExpectedRecords::add(TypeId type, std::uint32_t first, std::uint32_t last) {
  List* const list = list_of(type);
  if (list == nullptr) return;
  for (; first < last; ++first) list->records.push_back(first);
}

void ExpectedRecords::add(TypeId type, std::uint32_t record) { add(type, record, record + 1); }

void ExpectedRecords::add_from(TypeId type, std::size_t first) {
  add_everywhere(type, static_cast<std::uint32_t>(first),
                 static_cast<std::uint32_t>(wave_.batch().records.size()));
}

void ExpectedRecords::sort(TypeId type) {
  if (!rules_.strata().is_produced(type)) return;
  Records& records = lists_[type].records;
  std::sort(records.begin(), records.end(), PlaceOrder(wave_.batch().records));
}

void ExpectedRecords::take(TypeId type, Records& taken) {
  if (!wave_.is_cut()) return take_all(type, taken);
  sort(type);
  Records& all = lists_[type].records;
  const auto& records = wave_.batch().records;
  const auto end = std::partition_point(
      all.begin(), all.end(), [&](std::uint32_t i) { return wave_.contains(records[i]); });
  taken.assign(end, all.end());
  all.erase(end, all.end());
  taken.swap(all);
}

void ExpectedRecords::take_all(TypeId type, Records& taken) {
  sort(type);
  taken.clear();
  taken.swap(lists_[type].records);
}

void ExpectedRecords::renumber(const Records& numbers) {
  for (const TypeId type : types_) dispatch::renumber(lists_[type].records, numbers);
}

}  // namespace gorgo::dispatch
