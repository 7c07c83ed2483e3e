#include "engine/reference/reference.hpp"

#include <algorithm>

#include "engine/aggregation.hpp"
#include "engine/window.hpp"

namespace gorgo::engine {
namespace {

using history::EventRef;
using Sequence = std::vector<EventRef>;

class ReferenceEvaluator final : public Evaluator {
 public:
  ReferenceEvaluator(std::shared_ptr<const plan::Plan> plan, history::History& history);

  std::size_t evaluate(const Terminators& terminators, const RuleState& state, const Budget& budget,
                       CompositeSink& sink) override;
  bool is_absent(std::uint32_t negation, std::span<const EventRef> sequence,
                 const RuleState& state) override;
  std::size_t bytes() const override;

 private:
  /// Every event of a type, in (timestamp, place) order.
  struct Events {
    std::shared_ptr<history::Column> column;
    std::shared_ptr<const history::Timeline> timeline;
  };

  enum class Outcome { complete, overflow, stopped };
  static constexpr std::uint64_t kAllRoots = ~std::uint64_t{0};

  static Events events_of(TypeId type, history::History& history);

  Outcome choose_sequences(EventRef terminator);
  std::vector<EventRef> passing_candidates(std::size_t state, const Sequence& partial) const;
  bool passes(std::size_t state, const Sequence& extended) const;
  static void select(const State& state, std::vector<EventRef>& passing);
  bool is_violated(const Negation& negation, const Events& events,
                   std::span<const EventRef> sequence) const;
  void finish(CompositeSink& sink) const;
  Datum value_of(const Aggregate& aggregate, const Events& events, const Sequence& sequence) const;

  /// Calls `f(event)` for the events inside the interval, oldest first, until it returns false.
  template <class F>
  void for_each_event(const Events& events, Interval interval, F&& f) const;

  std::shared_ptr<const plan::Plan> plan_;
  const Rule& rule_;
  const history::EventStore& terminators_;
  std::vector<Events> states_;
  std::vector<Events> negations_;
  std::vector<Events> aggregates_;

  // Of the evaluation in hand.
  const RuleState* state_ = nullptr;
  const Budget* budget_ = nullptr;
  /// What was released before the terminator has a lower root; what shares its root shares its
  /// timestamp too, so that no interval holds it.
  std::uint64_t visible_roots_ = kAllRoots;
  std::vector<Sequence> sequences_;
};

ReferenceEvaluator::ReferenceEvaluator(std::shared_ptr<const plan::Plan> plan,
                                       history::History& history)
    : plan_(std::move(plan)),
      rule_(plan_->rule),
      terminators_(history.store(rule_.states[0].predicate.type)) {
  for (const auto& s : rule_.states) states_.push_back(events_of(s.predicate.type, history));
  for (const auto& n : rule_.negations) negations_.push_back(events_of(n.predicate.type, history));
  for (const auto& a : rule_.aggregates) {
    aggregates_.push_back(events_of(a.predicate.type, history));
  }
}

ReferenceEvaluator::Events ReferenceEvaluator::events_of(TypeId type, history::History& history) {
  auto column = history.column({.type = type, .key = std::to_string(type)});
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

std::size_t ReferenceEvaluator::evaluate(const Terminators& terminators, const RuleState& state,
                                         const Budget& budget, CompositeSink& sink) {
  state_ = &state;
  budget_ = &budget;
  const auto slots = terminators.slots;
  for (std::size_t t = 0; t < slots.size(); ++t) {
    if (t > 0 && sink.size() >= budget.composites) return t;
    sink.begin(static_cast<std::uint32_t>(t));
    const EventRef terminator{&terminators_, slots[t]};
    visible_roots_ = terminator.root();
    switch (choose_sequences(terminator)) {
      case Outcome::complete:
        finish(sink);
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
  for (std::size_t i = 1; i < rule_.states.size(); ++i) {
    std::vector<Sequence> extended;
    for (const Sequence& partial : sequences_) {
      if (budget_->stopped()) return Outcome::stopped;
      std::vector<EventRef> chosen = passing_candidates(i, partial);
      select(rule_.states[i], chosen);
      for (const EventRef event : chosen) {
        extended.push_back(partial);
        extended.back().push_back(event);
      }
      if (extended.size() > rule_.options.max_sequences) return Outcome::overflow;
    }
    sequences_ = std::move(extended);
  }
  return Outcome::complete;
}

std::vector<EventRef> ReferenceEvaluator::passing_candidates(std::size_t state,
                                                             const Sequence& partial) const {
  std::vector<EventRef> passing;
  Sequence extended = partial;
  extended.emplace_back();
  for_each_event(states_[state], window_of(rule_.states[state], partial), [&](EventRef event) {
    extended.back() = event;
    if (!state_->consumed[state].contains(event.slot) && passes(state, extended))
      passing.push_back(event);
    return true;
  });
  return passing;
}

bool ReferenceEvaluator::passes(std::size_t state, const Sequence& extended) const {
  const history::Scope scope{.candidate = extended.back(), .states = extended, .aggregates = {}};
  if (!history::all_hold(rule_.states[state].predicate.conditions, scope)) return false;
  for (std::size_t i = 0; i < rule_.negations.size(); ++i) {
    const Negation& negation = rule_.negations[i];
    if (negation.span.kind == SpanKind::after) continue;  // decided at the deadline
    if (negation.completed_at == state && is_violated(negation, negations_[i], extended)) {
      return false;
    }
  }
  return true;
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

bool ReferenceEvaluator::is_violated(const Negation& negation, const Events& events,
                                     std::span<const EventRef> sequence) const {
  bool found = false;
  for_each_event(events, interval_of(negation.span, sequence), [&](EventRef event) {
    const history::Scope scope{.candidate = event, .states = sequence, .aggregates = {}};
    found = history::all_hold(negation.predicate.conditions, scope);
    return !found;
  });
  return found;
}

bool ReferenceEvaluator::is_absent(std::uint32_t negation, std::span<const EventRef> sequence,
                                   const RuleState& state) {
  state_ = &state;
  visible_roots_ = kAllRoots;
  return !is_violated(rule_.negations[negation], negations_[negation], sequence);
}

void ReferenceEvaluator::finish(CompositeSink& sink) const {
  std::vector<Datum> values(rule_.aggregates.size());
  for (const Sequence& sequence : sequences_) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      values[i] = value_of(rule_.aggregates[i], aggregates_[i], sequence);
    }
    const history::Scope scope{.candidate = {}, .states = sequence, .aggregates = values};
    const bool passes_filters =
        std::all_of(rule_.filters.begin(), rule_.filters.end(),
                    [&](const Filter& filter) { return history::holds(filter.condition, scope); });
    if (passes_filters) sink.accept(sequence, values);
  }
}

Datum ReferenceEvaluator::value_of(const Aggregate& aggregate, const Events& events,
                                   const Sequence& sequence) const {
  const Datum one = Datum::of(std::int64_t{1});
  const ValueType input = aggregate.attribute
                              ? events.column->store().attribute_type(*aggregate.attribute)
                              : one.type();
  Aggregation aggregation(aggregate.function, input);
  for_each_event(events, interval_of(aggregate.span, sequence), [&](EventRef event) {
    const history::Scope scope{.candidate = event, .states = sequence, .aggregates = {}};
    if (history::all_hold(aggregate.predicate.conditions, scope)) {
      aggregation.add(aggregate.attribute ? event.store->attribute(event.slot, *aggregate.attribute)
                                          : one);
    }
    return true;
  });
  return aggregation.result();
}

std::size_t ReferenceEvaluator::bytes() const {
  std::size_t total = 0;
  for (const auto* list : {&states_, &negations_, &aggregates_}) {
    for (const Events& events : *list) total += share_of(events.timeline);
  }
  return total;
}

}  // namespace

std::unique_ptr<Evaluator> ReferenceEngine::prepare(std::shared_ptr<const plan::Plan> plan,
                                                    history::History& history) const {
  return std::make_unique<ReferenceEvaluator>(std::move(plan), history);
}

}  // namespace gorgo::engine
