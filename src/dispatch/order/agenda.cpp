#include "dispatch/order/agenda.hpp"

#include <algorithm>
#include <tuple>

#include "dispatch/order/timers.hpp"

namespace gorgo::dispatch {
namespace {

template <class T>
void take_least(std::optional<T>& least, const std::optional<T>& candidate) {
  if (candidate && (!least || *candidate < *least)) least = candidate;
}

}  // namespace

void Agenda::keep_up() {
  if (version_ == rules_.base().version) return;
  instants_.clear();
  idle_.clear();
  deadlines_.clear();
  shortest_deadline_.reset();
  for (const std::uint32_t index : rules_.temporal_rules()) {
    const DeployedRule& rule = rules_.rule(index);
    if (rule.has_timer && !rule.state.timed().timer_at) {
      idle_.push_back(index);
    } else if (rule.has_timer) {
      enter_instant(index);
    }
    take_least(shortest_deadline_, rule.plan->deadline);
    enter_deadline(index);
  }
  find_types_before_deadlines();
  version_ = rules_.base().version;
}

/// Precondition: the timer has begun.
void Agenda::enter_instant(std::uint32_t index) {
  const DeployedRule& rule = rules_.rule(index);
  const auto next = TimerSchedule(*rule.rule().timer).next_after(*rule.state.timed().timer_at);
  if (next) instants_.emplace(*next, index);
}

void Agenda::enter_deadline(std::uint32_t index) {
  const auto& pending = rules_.rule(index).state.timed().pending;
  if (!pending.empty()) deadlines_.emplace(pending.begin()->first, index);
}

void Agenda::look_at(std::span<const std::uint32_t> rules) {
  if (!shortest_deadline()) return;
  for (const std::uint32_t index : rules) {
    if (rules_.rule(index).plan->deadline) enter_deadline(index);
  }
}

void Agenda::approach(Timestamp now) {
  keep_up();
  for (const std::uint32_t index : idle_) {
    engine::TimedState& state = rules_.state(index).own_timed();
    state.timer_at = state.timer_from = now;
    enter_instant(index);
  }
  idle_.clear();
  for (auto due = instants_.begin(); due != instants_.end() && due->first <= now;) {
    const std::uint32_t index = due->second;
    engine::TimedState& state = rules_.state(index).own_timed();
    const TimerSchedule schedule(*rules_.rule(index).rule().timer);
    const std::uint64_t instants = schedule.count(*state.timer_at, now);
    if (instants <= max_instants_) {
      ++due;
      continue;
    }
    state.skipped_instants += instants - max_instants_;
    state.timer_at = schedule.before_latest(max_instants_, now);
    due = instants_.erase(due);
    enter_instant(index);
  }
}

/// A rule's first deadline may have fired, or come before the one that is known.
std::optional<Timestamp> Agenda::next() {
  keep_up();
  while (!deadlines_.empty()) {
    const auto& [at, index] = *deadlines_.begin();
    const auto& pending = rules_.rule(index).state.timed().pending;
    if (!pending.empty() && pending.begin()->first == at) break;
    deadlines_.erase(deadlines_.begin());
  }
  std::optional<Timestamp> least;
  if (!instants_.empty()) least = instants_.begin()->first;
  if (!deadlines_.empty()) take_least(least, std::optional(deadlines_.begin()->first));
  return least;
}

std::optional<Duration> Agenda::shortest_deadline() {
  keep_up();
  return shortest_deadline_;
}

bool Agenda::may_bring_deadline(TypeId type) {
  keep_up();
  return type < brings_deadline_.size() && brings_deadline_[type];
}

/// Those of the terminators of rules with a deadline, and of the rules that make such terminators.
void Agenda::find_types_before_deadlines() {
  const Schema& schema = rules_.schema();
  brings_deadline_.assign(schema.size(), false);
  std::vector<TypeId> found;
  const auto add = [&](TypeId type) {
    if (brings_deadline_[type]) return;
    brings_deadline_[type] = true;
    found.push_back(type);
  };
  const auto add_terminators = [&](std::uint32_t rule) {
    const TypeId type = rules_.rule(rule).rule().states[0].predicate.type;
    if (type == kTimerType) return;
    add(type);
    for (const JointMember& member : schema.at(type).members) add(member.type);
  };
  for (const std::uint32_t rule : rules_.temporal_rules()) {
    if (rules_.rule(rule).plan->deadline) add_terminators(rule);
  }
  while (!found.empty()) {
    const TypeId type = found.back();
    found.pop_back();
    for (const std::uint32_t rule : rules_.strata().producers_of(type)) add_terminators(rule);
  }
}

std::optional<Timestamp> Agenda::last_deadline() const {
  std::optional<Timestamp> last;
  for (const std::uint32_t index : rules_.temporal_rules()) {
    const auto& pending = rules_.rule(index).state.timed().pending;
    if (!pending.empty())
      last = std::max(last.value_or(pending.rbegin()->first), pending.rbegin()->first);
  }
  return last;
}

void Agenda::fire(Timestamp when, Batch& batch, std::uint64_t& roots) {
  if (!fire_timers(when, batch, roots)) fire_deadlines(when, batch, roots);
}

bool Agenda::fire_timers(Timestamp when, Batch& batch, std::uint64_t& roots) {
  bool fired = false;
  while (!instants_.empty() && instants_.begin()->first == when) {
    const std::uint32_t index = instants_.begin()->second;
    instants_.erase(instants_.begin());
    rules_.state(index).own_timed().timer_at = when;
    enter_instant(index);
    fired = true;
    batch.records.push_back(
        {.type = kTimerType, .timestamp = when, .root = ++roots, .rule = index});
  }
  return fired;
}

void Agenda::fire_deadlines(Timestamp when, Batch& batch, std::uint64_t& roots) {
  struct Due {
    std::uint32_t rule;
    engine::PendingComposite composite;
  };
  std::vector<Due> due;
  while (!deadlines_.empty() && deadlines_.begin()->first <= when) {
    const std::uint32_t index = deadlines_.begin()->second;
    deadlines_.erase(deadlines_.begin());
    auto& pending = rules_.state(index).own_timed().pending;
    const auto end = pending.upper_bound(when);
    for (auto it = pending.begin(); it != end; ++it) due.push_back({index, std::move(it->second)});
    pending.erase(pending.begin(), end);
    enter_deadline(index);
  }
  std::sort(due.begin(), due.end(), [](const Due& a, const Due& b) {
    return std::tie(a.composite.terminator, a.rule, a.composite.sequence) <
           std::tie(b.composite.terminator, b.rule, b.composite.sequence);
  });
  const std::uint64_t visible_roots = roots + 1;
  for (const auto& [index, composite] : due) {
    const DeployedRule& rule = rules_.rule(index);
    engine::RuleState& state = rules_.state(index);
    state.own_timed().decided.push_back(
        {composite.events[0].slot, composite.sequence, visible_roots});
    if (!rule.is_absent(composite.events)) continue;
    if (!state.admit(rule.rule(), composite.cells, when, composite.events[0].slot)) continue;
    const auto first_cell = static_cast<std::uint32_t>(batch.cells.size());
    batch.cells.insert(batch.cells.end(), composite.cells.begin(), composite.cells.end());
    batch.own_texts(first_cell, rule.plan->computed_texts);
    batch.records.push_back({.type = rule.rule().type,
                             .timestamp = when,
                             .root = ++roots,
                             .depth = composite.terminator.depth + 1,
                             .rule = index,
                             .sequence = composite.sequence,
                             .first_cell = first_cell});
    ++state.composites;
  }
}

}  // namespace gorgo::dispatch
