#include "dispatch/evaluate/terminator_run.hpp"

#include <utility>

#include "dispatch/evaluate/out_of_memory.hpp"

namespace gorgo::dispatch {

void TerminatorRun::collect(std::uint32_t number, const Bound& bound, std::uint64_t certain) {
  const DeployedRule& rule = rules_.rule(number);
  const auto& queue = queues_.of(rule);
  const auto& records = wave_.batch().records;
  std::uint32_t& next = queues_.next(number);
  engine::RuleState& state = rules_.state(number);
  const Starvation* expected = suspensions_.next_expected(number);
  std::uint64_t noted = 0, passed_over = 0;
  for (; next < queue.size(); ++next) {
    const Record& record = records[queue[next].record];
    if (!wave_.contains(record) || !bound.admits(record)) break;
    if (!is_in_sight(rule, number, record)) continue;
    if (expected != nullptr && expected->root == record.root &&
        expected->terminators == state.all_terminators() + noted) {
      if (noted > 0) {  // those come first, because they may be left and then are noted again
        is_cut_short_ = true;
        break;
      }
      suspensions_.carry_out(number);
      expected = nullptr;  // the next one comes when the rule was taken up again
    }
    if (rule.has_every && !state.own_timed().counts.count(
                              *rule.rule().every, {&rule.terminators->store(), queue[next].slot})) {
      continue;
    }
    if (state.suspended) {
      ++passed_over;
    } else {
      ++noted;
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
  is_done_ = !std::exchange(is_cut_short_, false);
  if (stop_.load(std::memory_order_relaxed)) {
    runner_.clear();
    return is_done_;
  }
  held_.restart(wave_.held_bytes(), extra);
  starved_.clear();
  runner_.run(wave_.batch().ordered_before, held_,
              std::exchange(certain_, {}).value_or(runner_.size()));
  if (!stop_.load(std::memory_order_relaxed)) {
    for (const RuleRunner::Part& part : runner_.parts()) {
      if (is_next(part) && !add(part, added)) starved_.push_back(part.rule);
    }
  }
  runner_.clear();  // its sinks say last what they hold
  counters_.peak_held_bytes = held_.peak();
  suspend_starved();
  return is_done_;
}

/// Whether all earlier terminators of the rule are done. If not, these are evaluated again.
bool TerminatorRun::is_next(const RuleRunner::Part& part) {
  return queues_.next(part.rule) > runner_.tag(part, 0);
}

/// Adds what came of the part to the batch. False: there was no memory for all of it.
bool TerminatorRun::add(const RuleRunner::Part& part, const Added& added) {
  const engine::Request& outcome = runner_.request(part);
  const std::size_t first = wave_.batch().records.size();
  if (!records_.add(part)) {
    settle_terminators(part, 0);
    return false;
  }
  settle_terminators(part, outcome.done);
  rules_.state(part.rule).overflows += outcome.overflows;
  if (first < wave_.batch().records.size()) added(rules_.rule(part.rule).rule().type, first);
  return !outcome.starved;
}

/// Counts the terminators that are done.
void TerminatorRun::settle_terminators(const RuleRunner::Part& part, std::size_t done) {
  rules_.state(part.rule).terminators += done;
  if (done == runner_.request(part).terminators.slots.size()) return;
  const auto left = static_cast<std::uint32_t>(runner_.tag(part, done));
  std::uint32_t& next = queues_.next(part.rule);
  if (rules_.rule(part.rule).has_every) take_back(part.rule, left, next);
  next = left;
  is_done_ = false;
}

/// The memory that the run took is free by now, so that there is some to note it.
void TerminatorRun::suspend_starved() {
  for (const std::uint32_t rule : starved_) {
    const std::uint32_t terminator = queues_.first_left(rule)->record;
    if (suspensions_.starve(rule, wave_.batch().records[terminator].root)) continue;
    throw OutOfMemory("evaluate rule", rules_.names()[rule],
                      "make its windows shorter, or lower engine.max_held_bytes");
  }
}

}  // namespace gorgo::dispatch
