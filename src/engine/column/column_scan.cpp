#include "engine/column/column_scan.hpp"

#include <algorithm>

#include "engine/aggregation.hpp"
#include "engine/column/scanner.hpp"

namespace gorgo::engine {
namespace {

using history::EventRef;

class ColumnScanEvaluator final : public Evaluator {
 public:
  ColumnScanEvaluator(std::shared_ptr<const plan::Plan> plan, history::History& history);

  std::size_t evaluate(std::span<const history::Slot> terminators, RuleState& state,
                       const Budget& budget, CompositeSink& sink) override;
  bool is_absent(std::uint32_t negation, std::span<const EventRef> sequence,
                 const RuleState& state) override;
  std::size_t column_bytes() const override;

 private:
  enum class Outcome { complete, overflow, stopped };

  Outcome evaluate_terminator(EventRef terminator);
  /// Chooses events for `state` and all later ones, given the states before it.
  Outcome extend(std::size_t state);
  Outcome extend_each(std::size_t state, history::Range range);
  Outcome extend_selected(std::size_t state, history::Range range);
  Outcome extend_with(std::size_t state, EventRef event);
  /// Tests the candidate as `sequence_[state]`, conditions of its scan aside.
  bool accepts(std::size_t state, EventRef candidate);
  bool is_violated(std::uint32_t negation, std::span<const EventRef> sequence);
  void finish();
  Datum value_of(std::size_t aggregate);

  Interval visible_part(Interval interval) const { return visible(interval, *state_); }
  std::span<const EventRef> bound(std::size_t states) const {
    return std::span(sequence_).first(states);
  }

  std::shared_ptr<const plan::Plan> plan_;
  const Rule& rule_;
  const history::EventStore& terminators_;
  std::vector<Scanner> states_;  // states_[0] is never started
  std::vector<Scanner> negations_;
  std::vector<Scanner> aggregates_;

  // Of the terminator in hand.
  const RuleState* state_ = nullptr;
  const Budget* budget_ = nullptr;
  CompositeSink* sink_ = nullptr;
  std::vector<EventRef> sequence_;
  std::vector<std::uint64_t> chosen_;            // partial sequences so far, by their last state
  std::vector<std::vector<EventRef>> selected_;  // by state: scratch of extend_selected
  std::vector<Datum> values_;                    // of the aggregates
};

ColumnScanEvaluator::ColumnScanEvaluator(std::shared_ptr<const plan::Plan> plan,
                                         history::History& history)
    : plan_(std::move(plan)),
      rule_(plan_->rule),
      terminators_(history.store(rule_.states[0].predicate.type)),
      sequence_(rule_.states.size()),
      chosen_(rule_.states.size()),
      selected_(rule_.states.size()),
      values_(rule_.aggregates.size()) {
  const auto add = [&](std::vector<Scanner>& to, const plan::Scan& scan) {
    to.emplace_back(scan, history.column(scan.column));
  };
  for (const auto& s : plan_->states) add(states_, s.scan);
  for (const auto& scan : plan_->negations) add(negations_, scan);
  for (const auto& scan : plan_->aggregates) add(aggregates_, scan);
}

std::size_t ColumnScanEvaluator::evaluate(std::span<const history::Slot> terminators,
                                          RuleState& state, const Budget& budget,
                                          CompositeSink& sink) {
  state_ = &state;
  budget_ = &budget;
  sink_ = &sink;
  for (std::size_t t = 0; t < terminators.size(); ++t) {
    if (budget.stopped() || (t > 0 && sink.size() >= budget.composites)) return t;
    sink.begin(static_cast<std::uint32_t>(t));
    switch (evaluate_terminator({&terminators_, terminators[t]})) {
      case Outcome::complete:
        sink.commit();
        break;
      case Outcome::overflow:
        sink.overflow();
        break;
      case Outcome::stopped:
        sink.discard();
        return t;
    }
  }
  return terminators.size();
}

ColumnScanEvaluator::Outcome ColumnScanEvaluator::evaluate_terminator(EventRef terminator) {
  std::fill(chosen_.begin(), chosen_.end(), 0);
  sequence_[0] = terminator;
  const history::Scope scope{.candidate = terminator, .states = bound(1), .aggregates = {}};
  const auto& conditions = rule_.states[0].predicate.conditions;
  if (!history::all_hold(conditions, scope) || !accepts(0, terminator)) return Outcome::complete;
  return extend(1);
}

ColumnScanEvaluator::Outcome ColumnScanEvaluator::extend(std::size_t state) {
  if (state == rule_.states.size()) {
    finish();
    return Outcome::complete;
  }
  if (budget_->stopped()) return Outcome::stopped;
  const State& rule_state = rule_.states[state];
  const Interval window = visible_part(window_of(rule_state, sequence_));
  const history::Range range = states_[state].start(window, bound(state));
  return rule_state.selection == Selection::each ? extend_each(state, range)
                                                 : extend_selected(state, range);
}

ColumnScanEvaluator::Outcome ColumnScanEvaluator::extend_each(std::size_t state,
                                                              history::Range range) {
  const Scanner& scanner = states_[state];
  Outcome outcome = Outcome::complete;
  scanner.ascending(range, [&](std::uint64_t position) {
    const EventRef event = scanner.event(position);
    if (accepts(state, event)) outcome = extend_with(state, event);
    return outcome == Outcome::complete;
  });
  return outcome;
}

ColumnScanEvaluator::Outcome ColumnScanEvaluator::extend_selected(std::size_t state,
                                                                  history::Range range) {
  const Scanner& scanner = states_[state];
  const State& rule_state = rule_.states[state];
  auto& selected = selected_[state];
  selected.clear();
  const auto take = [&](std::uint64_t position) {
    const EventRef event = scanner.event(position);
    if (accepts(state, event)) selected.push_back(event);
    return selected.size() < rule_state.k;
  };
  if (rule_state.selection == Selection::first || rule_state.selection == Selection::k_first) {
    scanner.ascending(range, take);
  } else {
    scanner.descending(range, take);
    std::reverse(selected.begin(), selected.end());
  }
  for (const EventRef event : selected) {
    const Outcome outcome = extend_with(state, event);
    if (outcome != Outcome::complete) return outcome;
  }
  return Outcome::complete;
}

ColumnScanEvaluator::Outcome ColumnScanEvaluator::extend_with(std::size_t state, EventRef event) {
  if (++chosen_[state] > rule_.options.max_sequences) return Outcome::overflow;
  sequence_[state] = event;
  return extend(state + 1);
}

bool ColumnScanEvaluator::accepts(std::size_t state, EventRef candidate) {
  if (state_->consumed[state].contains(candidate.slot)) return false;
  sequence_[state] = candidate;
  const auto& negations = plan_->states[state].negations;
  return std::none_of(negations.begin(), negations.end(), [&](std::uint32_t negation) {
    return is_violated(negation, bound(state + 1));
  });
}

bool ColumnScanEvaluator::is_violated(std::uint32_t negation, std::span<const EventRef> sequence) {
  Scanner& scanner = negations_[negation];
  const Interval span = visible_part(interval_of(rule_.negations[negation].span, sequence));
  const bool none =
      scanner.ascending(scanner.start(span, sequence), [](std::uint64_t) { return false; });
  return !none;
}

bool ColumnScanEvaluator::is_absent(std::uint32_t negation, std::span<const EventRef> sequence,
                                    const RuleState& state) {
  state_ = &state;
  return !is_violated(negation, sequence);
}

void ColumnScanEvaluator::finish() {
  for (std::size_t i = 0; i < values_.size(); ++i) values_[i] = value_of(i);
  const history::Scope scope{.candidate = {}, .states = sequence_, .aggregates = values_};
  for (const Filter& filter : rule_.filters) {
    if (!history::holds(filter.condition, scope)) return;
  }
  sink_->accept(sequence_, values_);
}

Datum ColumnScanEvaluator::value_of(std::size_t index) {
  const Aggregate& aggregate = rule_.aggregates[index];
  Scanner& scanner = aggregates_[index];
  const Interval span = visible_part(interval_of(aggregate.span, sequence_));
  const history::Range range = scanner.start(span, sequence_);
  if (!aggregate.attribute) {
    std::int64_t count = 0;
    scanner.ascending(range, [&](std::uint64_t) { return ++count, true; });
    return Datum::of(count);
  }
  const history::AttributeVector& values = scanner.column().attribute(*aggregate.attribute);
  Aggregation aggregation(aggregate.function, values.type());
  scanner.ascending(range, [&](std::uint64_t position) {
    aggregation.add(values[position]);
    return true;
  });
  return aggregation.result();
}

std::size_t ColumnScanEvaluator::column_bytes() const {
  std::size_t total = 0;
  for (const auto* list : {&states_, &negations_, &aggregates_}) {
    for (const Scanner& scanner : *list) total += share_of(scanner.shared_column());
  }
  return total;
}

}  // namespace

std::unique_ptr<Evaluator> ColumnScanEngine::prepare(std::shared_ptr<const plan::Plan> plan,
                                                     history::History& history) const {
  return std::make_unique<ColumnScanEvaluator>(std::move(plan), history);
}

}  // namespace gorgo::engine
