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

void Agenda::approach(Timestamp now) {
  for (const std::uint32_t index : rules_.temporal_rules()) {
    const Rule& rule = rules_.rule(index).rule();
    if (!rule.timer) continue;
    engine::TimedState& state = rules_.state(index).own_timed();
    auto& at = state.timer_at;
    if (!at) {
      at = state.timer_from = now;
      continue;
    }
    const TimerSchedule schedule(*rule.timer);
    const std::uint64_t instants = schedule.count(*at, now);
    if (instants <= max_instants_) continue;
    state.skipped_instants += instants - max_instants_;
    at = schedule.before_latest(max_instants_, now);
  }
}

std::optional<Timestamp> Agenda::next() const {
  std::optional<Timestamp> least;
  for (const std::uint32_t index : rules_.temporal_rules()) {
    const DeployedRule& rule = rules_.rule(index);
    const engine::TimedState& state = rule.state.timed();
    if (state.timer_at) {
      take_least(least, TimerSchedule(*rule.rule().timer).next_after(*state.timer_at));
    }
    if (!state.pending.empty()) {
      take_least(least, std::optional(state.pending.begin()->first));
    }
  }
  return least;
}

std::optional<Duration> Agenda::shortest_deadline() const {
  std::optional<Duration> least;
  for (const std::uint32_t index : rules_.temporal_rules()) {
    take_least(least, rules_.rule(index).plan->deadline);
  }
  return least;
}

bool Agenda::may_bring_deadline(TypeId type) {
  if (version_ != rules_.base().version) find_types_before_deadlines();
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
  version_ = rules_.base().version;
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
  for (const std::uint32_t index : rules_.temporal_rules()) {
    auto& at = rules_.state(index).own_timed().timer_at;
    if (!at || TimerSchedule(*rules_.rule(index).rule().timer).next_after(*at) != when) continue;
    at = when;
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
  for (const std::uint32_t index : rules_.temporal_rules()) {
    auto& pending = rules_.state(index).own_timed().pending;
    const auto end = pending.upper_bound(when);
    for (auto it = pending.begin(); it != end; ++it) due.push_back({index, std::move(it->second)});
    pending.erase(pending.begin(), end);
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
