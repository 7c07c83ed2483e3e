#include "engine/reference/reference.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "engine/aggregation.hpp"
#include "engine/keys.hpp"
#include "engine/window.hpp"

namespace gorgo::engine {

using history::EventRef;

ReferenceEvaluator::ReferenceEvaluator(std::shared_ptr<const plan::Plan> plan,
                                       history::History& history, Witness* witness)
    : plan_(std::move(plan)),
      rule_(plan_->rule),
      witness_(witness),
      terminators_(history.store(rule_.states[0].predicate.type)) {
  for (const auto& s : rule_.states) states_.push_back(events_of(s.predicate.type, history));
  for (const auto& n : rule_.negations) negations_.push_back(events_of(n.predicate.type, history));
  for (std::size_t i = 0; i < rule_.aggregates.size(); ++i) {
    const TypeId type = rule_.aggregates[i].predicate.type;
    summed_.push_back(&history.store(type));
    aggregates_.push_back(plan_->aggregates[i].panes > 0 ? Events() : events_of(type, history));
  }
}

ReferenceEvaluator::Events ReferenceEvaluator::events_of(TypeId type, history::History& history) {
  auto column = history.column(plan::column_of_all(type));
  auto timeline = column->timeline({});
  return {std::move(column), std::move(timeline)};
}

template <class F>
void ReferenceEvaluator::for_each_event(const Events& events, Interval interval, F&& f) const {
  interval = visible(interval, *state_);
  const history::Range range = events.timeline->window(interval.after, interval.before);
  for (std::uint64_t p = range.first; p < range.last; ++p) {
    const EventRef event{&events.column->store(), events.timeline->slot(p)};
    if (event.root() < visible_roots_ && !f(event)) return;
  }
}

template <class F>
void ReferenceEvaluator::for_each_event(const Events& events, Interval interval,
                                        std::optional<std::uint64_t> newest, F&& f) const {
  if (!newest) return for_each_event(events, interval, std::forward<F>(f));
  std::vector<EventRef> all;
  for_each_event(events, interval, [&](EventRef event) {
    all.push_back(event);
    return true;
  });
  for (const EventRef event : std::span(all).last(std::min<std::size_t>(*newest, all.size()))) {
    if (!f(event)) return;
  }
}

std::size_t ReferenceEvaluator::evaluate(const Terminators& terminators, const RuleState& state,
                                         const Budget& budget, CompositeSink& sink) {
  state_ = &state;
  budget_ = &budget;
  const auto slots = terminators.slots;
  for (std::size_t t = 0; t < slots.size(); ++t) {
    if (!sink.has_room(static_cast<std::uint32_t>(t))) return t;
    sink.begin(static_cast<std::uint32_t>(t));
    const EventRef terminator{&terminators_, slots[t]};
    visible_roots_ = terminator.root();
    switch (choose_sequences(terminator)) {
      case Outcome::complete:
        if (!finish(sink)) {
          sink.discard();
          return t;
        }
        sink.commit();
        break;
      case Outcome::overflow:
        sink.overflow();
        break;
      case Outcome::stopped:
        return t;
    }
  }
  return slots.size();
}

ReferenceEvaluator::Outcome ReferenceEvaluator::choose_sequences(EventRef terminator) {
  sequences_.clear();
  const Sequence alone{terminator};
  if (passes(0, alone)) sequences_.push_back(alone);
  if (witness_ != nullptr) witness_->chosen(0, sequences_.size());
  for (std::size_t i = 1; i < rule_.states.size(); ++i) {
    std::vector<Sequence> extended;
    for (const Sequence& partial : sequences_) {
      if (budget_->stopped()) return Outcome::stopped;
      std::vector<EventRef> chosen = passing_candidates(i, partial);
      if (budget_->stopped()) return Outcome::stopped;
      choose(rule_.states[i], chosen);
      for (const EventRef event : chosen) {
        extended.push_back(partial);
        extended.back().push_back(event);
      }
      if (extended.size() > rule_.options.max_sequences) return Outcome::overflow;
    }
    sequences_ = std::move(extended);
    if (witness_ != nullptr) witness_->chosen(i, sequences_.size());
  }
  return Outcome::complete;
}

std::vector<EventRef> ReferenceEvaluator::passing_candidates(std::size_t state,
                                                             const Sequence& partial) const {
  std::vector<EventRef> passing;
  Sequence extended = partial;
  extended.emplace_back();
  const Interval window = window_of(rule_.states[state], partial);
  if (witness_ != nullptr) witness_->search(state, partial, visible(window, *state_));
  for_each_event(states_[state], window, rule_.states[state].among, [&](EventRef event) {
    extended.back() = event;
    if (!is_consumed(state, extended) && passes(state, extended)) passing.push_back(event);
    return !budget_->stopped();
  });
  return passing;
}

bool ReferenceEvaluator::is_consumed(std::size_t state, const Sequence& extended) const {
  const history::Slot slot = extended.back().slot;
  if (!state_->is_consumed(state, slot)) return false;
  if (witness_ != nullptr) {
    const history::Slot by = state_->consumed[state].consumer(slot);
    witness_->consumed(state, extended, {&terminators_, by});
  }
  return true;
}

bool ReferenceEvaluator::passes(std::size_t state, const Sequence& extended) const {
  const history::Scope scope{.candidate = extended.back(), .states = extended, .aggregates = {}};
  const auto& conditions = rule_.states[state].predicate.conditions;
  for (std::size_t i = 0; i < conditions.size(); ++i) {
    if (history::holds(conditions[i], scope)) continue;
    if (witness_ != nullptr) witness_->failed(state, i, extended);
    return false;
  }
  for (std::size_t i = 0; i < rule_.negations.size(); ++i) {
    const Negation& negation = rule_.negations[i];
    if (negation.span.kind == SpanKind::after) continue;  // decided at the deadline
    if (negation.completed_at != state) continue;
    if (const auto by = violation(negation, negations_[i], extended, budget_)) {
      if (witness_ != nullptr) witness_->violated(state, i, extended, *by);
      return false;
    }
  }
  if (witness_ != nullptr) witness_->passed(state);
  return true;
}

void ReferenceEvaluator::choose(const State& state, std::vector<EventRef>& passing) {
  if (state.per.empty()) return select(state, passing);
  std::map<std::string, std::vector<EventRef>> groups;
  for (const EventRef event : passing) {
    std::string key;
    append_key(state, event, key);
    groups[key].push_back(event);
  }
  std::set<history::Slot> chosen;
  for (auto& [key, group] : groups) {
    select(state, group);
    for (const EventRef event : group) chosen.insert(event.slot);
  }
  std::erase_if(passing, [&](EventRef event) { return !chosen.contains(event.slot); });
}

void ReferenceEvaluator::select(const State& state, std::vector<EventRef>& passing) {
  const std::size_t k = std::min<std::size_t>(passing.size(), state.k);
  switch (state.selection) {
    case Selection::each:
      return;
    case Selection::first:
    case Selection::k_first:
      passing.resize(k);
      return;
    case Selection::last:
    case Selection::k_last:
      passing.erase(passing.begin(), passing.end() - static_cast<std::ptrdiff_t>(k));
      return;
  }
}

std::optional<EventRef> ReferenceEvaluator::violation(const Negation& negation,
                                                      const Events& events,
                                                      std::span<const EventRef> sequence,
                                                      const Budget* budget) const {
  std::optional<EventRef> found;
  for_each_event(events, interval_of(negation.span, sequence), [&](EventRef event) {
    const history::Scope scope{.candidate = event, .states = sequence, .aggregates = {}};
    if (history::all_hold(negation.predicate.conditions, scope)) found = event;
    return !found && (budget == nullptr || !budget->stopped());
  });
  return found;
}

bool ReferenceEvaluator::is_absent(std::uint32_t negation, std::span<const EventRef> sequence,
                                   const RuleState& state) {
  return !violation(negation, sequence, state, kAllRoots);
}

std::optional<EventRef> ReferenceEvaluator::violation(std::uint32_t negation,
                                                      std::span<const EventRef> sequence,
                                                      const RuleState& state,
                                                      std::uint64_t visible_roots) {
  state_ = &state;
  visible_roots_ = visible_roots;
  return violation(rule_.negations[negation], negations_[negation], sequence, nullptr);
}

/// Returns false when the terminator was given up.
bool ReferenceEvaluator::finish(CompositeSink& sink) const {
  std::vector<Datum> values(rule_.aggregates.size());
  for (const Sequence& sequence : sequences_) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      values[i] = plan_->aggregates[i].panes > 0
                      ? state_->timed().panes[i].value(*plan_, i, sequence, *summed_[i])
                      : value_of(rule_.aggregates[i], aggregates_[i], sequence);
    }
    const history::Scope scope{.candidate = {}, .states = sequence, .aggregates = values};
    const auto drops = std::find_if(
        rule_.filters.begin(), rule_.filters.end(),
        [&](const Filter& filter) { return !history::holds(filter.condition, scope); });
    if (witness_ != nullptr) {
      witness_->complete(sequence, values, static_cast<std::size_t>(drops - rule_.filters.begin()));
    }
    if (drops == rule_.filters.end()) sink.accept(sequence, values);
    if (sink.is_full() || budget_->stopped()) return false;
  }
  return true;
}

Datum ReferenceEvaluator::value_of(const Aggregate& aggregate, const Events& events,
                                   const Sequence& sequence) const {
  const Datum one = Datum::of(std::int64_t{1});
  std::vector<EventRef> passing;
  const Interval span = interval_of(aggregate.span, sequence);
  for_each_event(events, span, aggregate.among, [&](EventRef event) {
    const history::Scope scope{.candidate = event, .states = sequence, .aggregates = {}};
    if (history::all_hold(aggregate.predicate.conditions, scope)) passing.push_back(event);
    return !budget_->stopped();
  });
  const std::size_t counted = std::min(passing.size(), aggregate.newest.value_or(passing.size()));
  Aggregation aggregation(aggregate, events.column->store());
  for (const EventRef event : std::span(passing).last(counted)) {
    aggregation.add(aggregate.attribute ? event.store->attribute(event.slot, *aggregate.attribute)
                                        : one);
  }
  return aggregation.result();
}

std::size_t ReferenceEvaluator::bytes() const {
  std::size_t total = 0;
  for (const auto* list : {&states_, &negations_, &aggregates_}) {
    for (const Events& events : *list) total += events.timeline ? share_of(events.timeline) : 0;
  }
  return total;
}

std::unique_ptr<CpuEvaluator> ReferenceEngine::make(std::shared_ptr<const plan::Plan> plan,
                                                    history::History& history) const {
  return std::make_unique<ReferenceEvaluator>(std::move(plan), history, nullptr);
}

}  // namespace gorgo::engine
