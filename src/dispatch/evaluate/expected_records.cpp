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
  std::uint32_t index = 0;
  for (const Record& record : wave_.batch().records) add_everywhere(record.type, index++);
}

void ExpectedRecords::add_everywhere(TypeId type, std::uint32_t record) {
  if (type == kNoType) return;
  add(type, record);
  for (const TypeId joint : rules_.joints_of(type)) add(joint, record);
}

void ExpectedRecords::add(TypeId type, std::uint32_t record) {
  List& list = lists_[type];
  if (!list.is_known) {
    if (!history_.keeps(type)) return;
    types_.push_back(type);
    list.is_known = true;
  }
  list.records.push_back(record);
}

void ExpectedRecords::add_from(TypeId type, std::size_t first) {
  if (!history_.keeps(type) && rules_.joints_of(type).empty()) return;
  const std::size_t end = wave_.batch().records.size();
  for (std::size_t i = first; i < end; ++i) add_everywhere(type, static_cast<std::uint32_t>(i));
}

void ExpectedRecords::sort(TypeId type) {
  if (!rules_.strata().is_produced(type)) return;
  Records& records = lists_[type].records;
  std::sort(records.begin(), records.end(), PlaceOrder(wave_.batch().records));
}

void ExpectedRecords::take(TypeId type, Records& taken) {
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
