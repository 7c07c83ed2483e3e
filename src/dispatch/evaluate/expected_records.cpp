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
  add_from(0);
}

void ExpectedRecords::add_from(std::size_t first) {
  const auto& records = wave_.batch().records;
  const auto size = static_cast<std::uint32_t>(records.size());
  for (auto begin = static_cast<std::uint32_t>(first), end = begin; begin < size; begin = end) {
    const TypeId type = records[begin].type;
    while (end < size && records[end].type == type) ++end;
    if (type != kNoType) add_everywhere(list_of(type), begin, end);
  }
}

/// Adds the records [begin, end), which are of the list's type.
void ExpectedRecords::add_everywhere(List& own, std::uint32_t begin, std::uint32_t end) {
  if (own.is_kept) {
    for (std::uint32_t record = begin; record < end; ++record) own.records.push_back(record);
  }
  for (const TypeId joint : own.joints) {
    for (std::uint32_t record = begin; record < end; ++record) add(joint, record);
  }
}

ExpectedRecords::List& ExpectedRecords::list_of(TypeId type) {
  List& list = lists_[type];
  if (!list.is_known) {
    types_.push_back(type);
    list.is_known = true;
    list.is_kept = history_.keeps(type);
    list.joints = rules_.types().joints_of(type);
  }
  return list;
}

void ExpectedRecords::add(TypeId type, std::uint32_t record) {
  List& list = list_of(type);
  if (list.is_kept) list.records.push_back(record);
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
