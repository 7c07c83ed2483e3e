#include "dispatch/evaluate/composite_limit.hpp"

#include <algorithm>
#include <map>

namespace gorgo::dispatch {

void CompositeLimit::apply_to_level(Batch& batch, std::uint32_t level,
                                    const std::function<bool(const Record&)>& is_known) {
  std::map<std::uint64_t, std::uint64_t> earlier;  // by root: composites of lower strata and cycles
  std::map<std::uint64_t, Records> of_level;       // by root
  for (std::uint32_t i = 0; i < batch.records.size(); ++i) {
    const Record& record = batch.records[i];
    if (!record.is_composite() || !is_known(record)) continue;
    const std::uint32_t own = rules_.strata().level_of_rule(record.rule);
    const bool now = own == level && !rules_.strata().closes_cycle(record.rule);
    if (now) of_level[record.root].push_back(i);
    if (!now && own <= level) ++earlier[record.root];
  }
  for (auto& [root, records] : of_level) drop(batch, records, earlier[root]);
}

void CompositeLimit::apply_to_root(Batch& batch, std::uint64_t root, std::size_t first_new) {
  std::uint64_t earlier = 0;
  Records step;
  for (std::uint32_t i = 0; i < batch.records.size(); ++i) {
    const Record& record = batch.records[i];
    if (record.root != root || !record.is_composite() || record.dropped) continue;
    if (i < first_new) {
      ++earlier;
    } else {
      step.push_back(i);
    }
  }
  drop(batch, step, earlier);
}

void CompositeLimit::drop(Batch& batch, Records& records, std::uint64_t earlier) {
  const std::uint64_t room = most_ - std::min(most_, earlier);
  if (records.size() <= room) return;
  std::sort(records.begin(), records.end(), PlaceOrder(batch.records));
  for (std::size_t i = room; i < records.size(); ++i) batch.records[records[i]].dropped = true;
  counters_.dropped_composites += records.size() - room;
  note(batch, batch.records[records.back()]);
}

void CompositeLimit::drop_too_deep(const Batch& batch, const Record& record) {
  ++counters_.dropped_depth;
  note(batch, record);
}

/// Notes that the record, or what came of it, was dropped.
void CompositeLimit::note(const Batch& batch, const Record& record) {
  const Record* root = &record;
  while (root->producer != kNoRecord) root = &batch.records[root->producer];
  last_.rule = rules_.names()[record.rule];
  last_.event = root->type == kTimerType ? "a timer" : rules_.schema().at(root->type).name;
}

}  // namespace gorgo::dispatch
