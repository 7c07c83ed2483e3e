#include "engine/automaton/instances.hpp"

#include <algorithm>
#include <limits>

#include "base/arithmetic.hpp"
#include "history/evaluate.hpp"
#include "history/key.hpp"

namespace gorgo::engine {
namespace {

using history::EventRef;
using history::Slot;

}  // namespace

Instances::Instances(const plan::Plan& plan, const Model& model, std::vector<Finder>& negations,
                     history::History& history)
    : rule_(plan.rule),
      model_(model),
      negations_(negations),
      sources_(plan.states.size()),
      advanced_to_(kBeginning),
      sequence_(plan.states.size()) {
  for (std::uint32_t i = 0; i < plan.states.size(); ++i) {
    const auto& spec = plan.states[i].scan.column;
    stores_.push_back(&history.store(spec.type));
    if (i == 0) continue;
    sources_[i].column = history.column(spec);
    sources_[i].timeline = sources_[i].column->timeline({});
    chosen_.resize(std::max(chosen_.size(), model.states[i].choices.size()));
  }
  for (const PoolModel& pool : model.pools) pools_.emplace_back(pool.states.size());
}

void Instances::clear() {
  for (PartialSequences& pool : pools_) pool.clear();
  for (Source& source : sources_) source.next = 0;
  held_ = 0;
  advanced_to_ = kBeginning;
}

Instances::Outcome Instances::advance(Timestamp until, const RuleState& state,
                                      const Budget& budget) {
  state_ = &state;
  budget_ = &budget;
  skip_unreachable(until);
  std::size_t taken = 0;
  const auto gives_up = [&] {
    constexpr std::size_t kAtATime = 16;  // events, between two looks at the clock
    return budget.stopped() || (++taken % kAtATime == 0 && budget.is_late());
  };
  while (const std::uint32_t next = next_state(until)) {
    Source& source = sources_[next];
    const bool has_room = take(next, source.timeline->slot(source.next++));
    if (gives_up()) {
      outcome_ = Outcome::stopped;
    } else if (has_room) {
      continue;
    }
    clear();
    return outcome_;
  }
  drop_expired(until);
  advanced_to_ = until;
  return Outcome::complete;
}

/// Where terminators are rare, most events are out of their reach when one comes.
void Instances::skip_unreachable(Timestamp until) {
  for (std::size_t i = 1; i < sources_.size(); ++i) {
    Source& source = sources_[i];
    source.next = std::max(source.next, source.timeline->begin());
    if (source.next == source.timeline->end()) continue;
    const Interval reachable = visible({horizon(i, until), until}, *state_);
    if (source.timeline->timestamp(source.next) > reachable.after) continue;
    const history::Range range = source.timeline->window(reachable.after, reachable.before);
    source.next = std::max(source.next, range.first);
  }
}

/// Events up to the returned time are out of reach. The greatest value of `reach` may stand for a
/// greater one.
Timestamp Instances::horizon(std::size_t state, Timestamp until) const {
  const Duration reach = model_.states[state].reach;
  if (reach == std::numeric_limits<Duration>::max()) return kBeginning;
  return arithmetic::saturating_subtract(until, reach);
}

std::uint32_t Instances::next_state(Timestamp until) const {
  std::uint32_t earliest = 0;
  for (std::uint32_t i = 1; i < sources_.size(); ++i) {
    const Source& source = sources_[i];
    if (source.next == source.timeline->end()) continue;
    const Timestamp timestamp = source.timeline->timestamp(source.next);
    if (timestamp >= until) continue;
    until = timestamp;
    earliest = i;
  }
  return earliest;
}

bool Instances::take(std::uint32_t state, Slot slot) {
  taken_ = &model_.states[state];
  sequence_[state] = {stores_[state], slot};
  now_ = sequence_[state].timestamp();
  drop_expired(now_);
  if (!pass(taken_->tests, sequence_, *state_)) return true;
  for (std::size_t i = 0; i < taken_->choices.size(); ++i) {
    choose(taken_->choices[i], chosen_[i]);
  }
  return std::all_of(taken_->joins.begin(), taken_->joins.end(),
                     [&](const JoinModel& join) { return extend(join, 0); });
}

bool Instances::extend(const JoinModel& join, std::size_t step) {
  if (step == join.steps.size()) return add(join.pool);
  if (budget_->stopped()) {
    outcome_ = Outcome::stopped;
    return false;
  }
  const StepModel& model = join.steps[step];
  const auto hash = wanted(model.pool, sequence_);
  if (!hash) return true;
  bool going_on = true;
  pools_[model.pool].newest_first(*hash, window(model.pool), [&](std::uint64_t position) {
    if (budget_->stopped()) {
      outcome_ = Outcome::stopped;
      return going_on = false;
    }
    bind(model.pool, position);
    if (model.choice) {
      const auto& chosen = chosen_[*model.choice];
      const Slot newest = pools_[model.pool].events(position).front();
      if (std::find(chosen.begin(), chosen.end(), newest) == chosen.end()) return true;
    }
    if (pass(model.tests, sequence_, *state_)) going_on = extend(join, step + 1);
    return going_on;
  });
  return going_on;
}

/// Keeps what stands in `sequence_` of the pool's states. Without a key nothing will ask for it.
bool Instances::add(std::uint32_t pool) {
  const auto hash = hash_of(pool, &KeyPart::subject, sequence_);
  if (!hash) return true;
  if (held_ == rule_.options.max_sequences) {
    outcome_ = Outcome::too_many;
    return false;
  }
  events_.clear();
  for (const std::uint32_t state : model_.pools[pool].states) {
    events_.push_back(sequence_[state].slot);
  }
  pools_[pool].add(now_, events_, *hash);
  ++held_;
  return true;
}

void Instances::choose(const ChoiceModel& choice, std::vector<Slot>& chosen) {
  const State& state = rule_.states[choice.state];
  const bool newest = state.selection == Selection::last || state.selection == Selection::k_last;
  chosen.clear();
  const auto hash = wanted(choice.pool, sequence_);
  if (!hash) return;
  pools_[choice.pool].newest_first(*hash, window(choice.pool), [&](std::uint64_t position) {
    if (budget_->stopped()) return false;
    bind(choice.pool, position);
    if (pass(choice.tests, sequence_, *state_)) {
      chosen.push_back(sequence_[choice.state].slot);
    }
    return !newest || chosen.size() < state.k;
  });
  if (!newest && chosen.size() > state.k) {
    chosen.erase(chosen.begin(), chosen.end() - static_cast<std::ptrdiff_t>(state.k));
  }
}

/// Events to come are not before `now`, so the windows of what is dropped are over.
void Instances::drop_expired(Timestamp now) {
  for (std::size_t i = 0; i < pools_.size(); ++i) {
    const std::uint64_t before = pools_[i].size();
    pools_[i].drop_until(arithmetic::saturating_subtract(now, model_.pools[i].width));
    held_ -= before - pools_[i].size();
  }
}

void Instances::bind(std::uint32_t pool, std::uint64_t position) {
  const auto& states = model_.pools[pool].states;
  const auto events = pools_[pool].events(position);
  for (std::size_t i = 0; i < states.size(); ++i) {
    sequence_[states[i]] = {stores_[states[i]], events[i]};
  }
}

Interval Instances::window(std::uint32_t pool) const {
  return {arithmetic::saturating_subtract(now_, model_.pools[pool].width), now_};
}

bool Instances::pass(const Tests& tests, std::span<const EventRef> sequence,
                     const RuleState& state) {
  const history::Scope scope{.candidate = {}, .states = sequence, .aggregates = {}};
  if (!history::all_hold(tests.conditions, scope)) return false;
  return std::all_of(tests.negations.begin(), tests.negations.end(),
                     [&](std::uint32_t negation) { return is_absent(negation, sequence, state); });
}

bool Instances::is_absent(std::uint32_t negation, std::span<const EventRef> sequence,
                          const RuleState& state) {
  const Interval span = interval_of(rule_.negations[negation].span, sequence);
  const Search search{visible(span, state), sequence};
  const history::Range range = negations_[negation].start(search);
  return negations_[negation].ascending(range, [](std::uint64_t) { return false; });
}

std::optional<std::uint64_t> Instances::wanted(std::uint32_t pool,
                                               std::span<const EventRef> sequence) {
  return hash_of(pool, &KeyPart::operand, sequence);
}

std::optional<std::uint64_t> Instances::hash_of(std::uint32_t pool, Expr KeyPart::*side,
                                                std::span<const EventRef> sequence) {
  const history::Scope scope{.candidate = {}, .states = sequence, .aggregates = {}};
  key_.clear();
  for (const KeyPart& part : model_.pools[pool].key) {
    const auto value = history::as_key(history::evaluate(part.*side, scope), part.subject.type);
    if (!value) return std::nullopt;
    key_.push_back(*value);
  }
  return history::key_hash(key_);
}

std::size_t Instances::bytes() const {
  std::size_t total = 0;
  for (const PartialSequences& pool : pools_) total += pool.bytes();
  for (std::size_t i = 1; i < sources_.size(); ++i) total += share_of(sources_[i].timeline);
  return total;
}

double Instances::upkeep() const {
  double total = 0;
  for (std::size_t i = 1; i < sources_.size(); ++i) total += sources_[i].timeline->upkeep().each();
  return total;
}

}  // namespace gorgo::engine
