#include "dispatch/evaluate/terminator_run.hpp"

#include <utility>

#include "dispatch/evaluate/out_of_memory.hpp"

namespace gorgo::dispatch {

void TerminatorRun::collect(std::uint32_t number, const Bound& bound, std::uint64_t certain) {
  const DeployedRule& rule = rules_.rule(number);
  const auto& queue = queues_.of(rule);
  const auto& records = wave_.batch().records;
  std::uint32_t& next = queues_.next(number);
  std::uint64_t passed_over = 0;
  for (; next < queue.size(); ++next) {
    const Record& record = records[queue[next].record];
    if (!wave_.contains(record) || !bound.admits(record)) break;
    if (!is_in_sight(rule, number, record)) continue;
    if (rule.has_every && !rules_.state(number).own_timed().counts.count(
                              *rule.rule().every, {&rule.terminators->store(), queue[next].slot})) {
      continue;
    }
    if (rule.state.suspended) {
      ++passed_over;
    } else {
      if (record.root == certain && !certain_) certain_ = runner_.size();
      runner_.add(number, queue[next].slot, next);
    }
  }
  if (passed_over > 0) note_passed_over(number, passed_over);
}

bool TerminatorRun::is_in_sight(const DeployedRule& rule, std::uint32_t number,
                                const Record& record) const {
  if (record.depth >= max_depth_) return false;
  return rule.has_timer ? record.rule == number : rule.sees(record.timestamp);
}

/// Undoes the counts of a rule with `every`, of the terminators of its queue from one to before
/// another.
void TerminatorRun::take_back(std::uint32_t number, std::uint32_t first, std::uint32_t last) {
  const DeployedRule& rule = rules_.rule(number);
  const auto& queue = queues_.of(rule);
  const auto& records = wave_.batch().records;
  auto& counts = rules_.state(number).own_timed().counts;
  for (std::uint32_t i = last; i-- > first;) {
    if (!is_in_sight(rule, number, records[queue[i].record])) continue;
    counts.take_back(*rule.rule().every, {&rule.terminators->store(), queue[i].slot});
  }
}

void TerminatorRun::note_passed_over(std::uint32_t rule, std::uint64_t terminators) {
  rules_.state(rule).passed_over += terminators;
  counters_.passed_over += terminators;
  last_passed_over_ = rules_.names()[rule];
}

bool TerminatorRun::run(std::size_t extra, const Added& added) {
  is_done_ = true;
  if (stop_.load(std::memory_order_relaxed)) {
    runner_.clear();
    return is_done_;
  }
  const Batch& batch = wave_.batch();
  held_.restart(wave_.held_bytes(), extra);
  const std::size_t first_cell = batch.cells.size();
  runner_.run(batch.in_order, held_, std::exchange(certain_, {}).value_or(runner_.size()));
  if (!stop_.load(std::memory_order_relaxed)) {
    records_.start_run();
    for (const RuleRunner::Part& part : runner_.parts()) {
      with_memory_to("hold the composites of rule", rules_.names()[part.rule],
                     "lower engine.max_composites or engine.max_held_bytes", [&] {
                       records_.add_cells(part);
                       if (!settle_terminators(part)) return;
                       const std::size_t first = batch.records.size();
                       records_.add(part);
                       added(rules_.rule(part.rule).rule().type, first);
                     });
    }
    wave_.add_composite_cells(batch.cells.size() - first_cell);
  }
  runner_.clear();  // its sinks say last what they hold
  counters_.peak_held_bytes = held_.peak();
  return is_done_;
}

/// Counts the terminators that are done. False when the rule's earlier terminators are not done, so
/// that these are to be evaluated again.
bool TerminatorRun::settle_terminators(const RuleRunner::Part& part) {
  const std::size_t first = runner_.tag(part, 0);
  std::uint32_t& next = queues_.next(part.rule);
  if (next <= first) return false;
  const engine::Request& outcome = runner_.request(part);
  engine::RuleState& state = rules_.state(part.rule);
  state.terminators += outcome.done;
  state.overflows += outcome.overflows;
  if (outcome.done < outcome.terminators.slots.size()) {
    const auto left = static_cast<std::uint32_t>(runner_.tag(part, outcome.done));
    if (rules_.rule(part.rule).has_every) take_back(part.rule, left, next);
    next = left;
    is_done_ = false;
  }
  return true;
}

}  // namespace gorgo::dispatch
