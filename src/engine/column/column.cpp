#include "engine/column/column.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/of_this_thread.hpp"
#include "engine/column/finder.hpp"
#include "engine/keys.hpp"

namespace gorgo::engine {
namespace {

using history::EventRef;

/// The value of an aggregate for the sequences that agree up to the state that decides it.
struct AggregateValue {
  std::uint64_t choice = 0;  ///< the choice of that state; 0: none yet
  Datum value;
};

/// What an evaluation in hand needs. There is one for each thread, so that it stays in the cache
/// however many rules take turns.
struct Workspace {
  std::vector<EventRef> sequence;
  std::uint64_t choices = 0;                    ///< made so far, by all rules
  std::vector<std::uint64_t> choice;            ///< by state: number of the choice that stands
  std::vector<std::uint64_t> chosen;            ///< partial sequences so far, by their last state
  std::vector<std::vector<EventRef>> selected;  ///< by state
  TakenByKey taken;
  std::vector<AggregateValue> computed;
  std::vector<Datum> values;                   ///< of the aggregates, as expressions read them
  std::vector<EventRef> group;                 ///< terminators that come next
  std::vector<std::vector<Search>> announced;  ///< of those, by finder

  void fit(const Rule& rule) {
    sequence.resize(rule.states.size());
    choice.resize(rule.states.size());
    chosen.resize(rule.states.size());
    if (selected.size() < rule.states.size()) selected.resize(rule.states.size());
    computed.resize(rule.aggregates.size());
    values.resize(rule.aggregates.size());
  }
};

/// The events of a state by the key that it is chosen per; null where they have to be scanned.
struct KeyIndex {
  std::shared_ptr<history::Column> column;  // keeps the index up to date
  std::shared_ptr<const history::HashIndex> index;
};

class ColumnEvaluator final : public CpuEvaluator {
 public:
  ColumnEvaluator(std::shared_ptr<const plan::Plan> plan, history::History& history,
                  bool use_indexes);

  void prefetch() const override;
  std::size_t evaluate(const Terminators& terminators, const RuleState& state, const Budget& budget,
                       CompositeSink& sink) override;
  bool is_absent(std::uint32_t negation, std::span<const EventRef> sequence,
                 const RuleState& state) override;
  std::size_t bytes() const override;
  double upkeep() override;

 private:
  enum class Outcome { complete, overflow, stopped };

  bool scans_for_each() const;

  std::size_t evaluate(std::span<const history::Slot> terminators);
  /// Tells finders of the terminators that come next.
  void announce(std::span<const history::Slot> terminators);
  void announce_searches();
  /// `interval(sequence)`: of the search for a terminator.
  template <class F>
  void announce(Finder& finder, std::size_t index, F&& interval);
  Outcome evaluate_terminator(EventRef terminator);
  /// Chooses events for `state` and all later ones, given the states before it.
  Outcome extend(std::size_t state);
  Outcome extend_each(std::size_t state, history::Range range);
  Outcome extend_selected(std::size_t state, history::Range range);
  void select(std::size_t state, history::Range range);
  void select_per_key(std::size_t state, history::Range range);
  void select_by_index(std::size_t state, const history::HashIndex& keys);
  template <class F>
  void in_order_of_choice(std::size_t state, history::Range range, F&& f);
  Outcome extend_with(std::size_t state, EventRef event);
  void choose(std::size_t state, EventRef event);
  /// Tests the candidate as `work_->sequence[state]`, conditions of its scan aside.
  bool accepts(std::size_t state, EventRef candidate);
  bool is_violated(std::uint32_t negation, std::span<const EventRef> sequence);
  Outcome finish();
  void aggregate(std::size_t index);
  Datum search(std::size_t index);
  Datum read_panes(std::size_t index) const;

  Search search(Interval interval, std::span<const EventRef> sequence) const {
    return {visible(interval, *state_), sequence, ordered_before_};
  }
  std::span<const EventRef> bound(std::size_t states) const {
    return std::span(work_->sequence).first(states);
  }

  std::shared_ptr<const plan::Plan> plan_;
  const Rule& rule_;
  const history::EventStore& terminators_;
  std::vector<Finder> states_;  // from state 1 on
  std::vector<Finder> negations_;
  std::vector<std::optional<Finder>> aggregates_;   // unset: its value comes from panes
  std::vector<const history::EventStore*> summed_;  // with panes, by aggregate
  std::vector<KeyIndex> keys_;                      // from state 1 on; none where no state has one
  std::vector<Finder*> early_;  // those whose key depends on the terminator alone
  bool scans_ = false;          // for each terminator, whatever else is found for it

  // The members below belong to the terminator in hand.
  const RuleState* state_ = nullptr;
  const Budget* budget_ = nullptr;
  CompositeSink* sink_ = nullptr;
  Timestamp ordered_before_ = kEndOfTime;
  Workspace* work_ = nullptr;
};

/// The index of a state's events by what it is chosen per, if it needs no test of a candidate and
/// no key is a float, whose NaN no index has. Those of the newest of all events are few.
KeyIndex key_index_of(const State& state, const plan::Scan& scan, history::History& history) {
  if (state.per.empty() || state.among) return {};
  if (!scan.comparisons.empty() || !scan.residual.empty()) return {};
  auto column = history.column(scan.column);
  std::vector<Expr> subjects;
  for (const std::uint32_t attribute : state.per) {
    const ValueType type = column->store().attribute_type(attribute);
    if (type == ValueType::floating) return {};
    subjects.push_back({.op = Op::attribute, .type = type, .index = attribute});
  }
  auto index = column->index(std::move(subjects), {}, {});
  return {std::move(column), std::move(index)};
}

/// Whether all matches of the state are looked at.
bool is_for_all(const State& state) {
  return state.selection == Selection::each || !state.per.empty();
}

/// Whether every operand of the key is known with the terminator.
bool is_early(const plan::Scan& scan) {
  return !scan.key.empty() && std::all_of(scan.key.begin(), scan.key.end(), [&](std::uint32_t i) {
    return plan::last_state(scan.comparisons[i].operand) == 0;
  });
}

ColumnEvaluator::ColumnEvaluator(std::shared_ptr<const plan::Plan> plan, history::History& history,
                                 bool use_indexes)
    : plan_(std::move(plan)),
      rule_(plan_->rule),
      terminators_(history.store(rule_.states[0].predicate.type)) {
  states_.reserve(plan_->states.size() - 1);
  for (std::size_t i = 1; i < plan_->states.size(); ++i) {
    const State& state = rule_.states[i];
    states_.emplace_back(plan_->states[i].scan, history, use_indexes,
                         is_for_all(state) ? Selectivity::all : Selectivity::until_found, state);
    auto keys = use_indexes ? key_index_of(state, plan_->states[i].scan, history) : KeyIndex();
    if (keys.index == nullptr) continue;
    keys_.resize(plan_->states.size() - 1);
    keys_[i - 1] = std::move(keys);
  }
  negations_.reserve(plan_->negations.size());
  for (const auto& scan : plan_->negations) {
    negations_.emplace_back(scan, history, use_indexes, Selectivity::until_found);
  }
  aggregates_.reserve(plan_->aggregates.size());
  for (std::size_t i = 0; i < plan_->aggregates.size(); ++i) {
    const plan::AggregatePlan& aggregate = plan_->aggregates[i];
    aggregates_.emplace_back();
    if (plan_->panes) summed_.push_back(&history.store(rule_.aggregates[i].predicate.type));
    if (aggregate.panes > 0) continue;
    aggregates_[i].emplace(aggregate.scan, history, use_indexes, rule_.aggregates[i]);
  }
  scans_ = scans_for_each();
  if (!use_indexes) return;
  for (std::size_t i = 0; i < states_.size(); ++i) {
    if (is_early(plan_->states[i + 1].scan)) early_.push_back(&states_[i]);
  }
}

/// Whether something is scanned for each terminator: the candidates of state 1, or what the
/// aggregates of a rule are about that has no such state.
bool ColumnEvaluator::scans_for_each() const {
  if (!plan_->states[0].negations.empty()) return false;
  if (rule_.states.size() > 1) return is_for_all(rule_.states[1]) && states_[0].is_scanning();
  return std::any_of(aggregates_.begin(), aggregates_.end(),
                     [](const auto& finder) { return finder && finder->is_scanning(); });
}

std::size_t ColumnEvaluator::evaluate(const Terminators& terminators, const RuleState& state,
                                      const Budget& budget, CompositeSink& sink) {
  state_ = &state;
  budget_ = &budget;
  sink_ = &sink;
  ordered_before_ = terminators.ordered_before;
  work_ = &of_this_thread<Workspace>();
  work_->fit(rule_);
  if (!history::all_hold(plan_->states[0].scan.guards, {})) return terminators.slots.size();
  const std::size_t done = evaluate(terminators.slots);
  announce({});
  return done;
}

/// Returns how many are done.
std::size_t ColumnEvaluator::evaluate(std::span<const history::Slot> terminators) {
  constexpr std::size_t kGroup = 16;  // terminators whose cache misses overlap
  for (std::size_t t = 0; t < terminators.size(); ++t) {
    if (budget_->stopped() || !sink_->has_room(static_cast<std::uint32_t>(t))) return t;
    if (t % kGroup == 0) announce(terminators.subspan(t, std::min(kGroup, terminators.size() - t)));
    sink_->begin(static_cast<std::uint32_t>(t));
    switch (evaluate_terminator({&terminators_, terminators[t]})) {
      case Outcome::complete:
        sink_->commit();
        break;
      case Outcome::overflow:
        sink_->overflow();
        break;
      case Outcome::stopped:
        sink_->discard();
        return t;
    }
  }
  return terminators.size();
}

void ColumnEvaluator::prefetch() const {
  for (const State& state : rule_.states) __builtin_prefetch(&state);
  for (const plan::StatePlan& state : plan_->states) __builtin_prefetch(&state);
  for (const Expr& assignment : rule_.assignments) __builtin_prefetch(&assignment);
  for (const Finder& finder : states_) finder.prefetch();
}

void ColumnEvaluator::announce(std::span<const history::Slot> terminators) {
  work_->group.clear();
  if (terminators.size() > 1) {
    for (const history::Slot slot : terminators) work_->group.push_back({&terminators_, slot});
  }
  for (Finder* finder : early_) finder->prefetch(work_->group);
  if (scans_) announce_searches();
}

void ColumnEvaluator::announce_searches() {
  if (rule_.states.size() > 1) {
    announce(states_[0], 0, [&](auto sequence) { return window_of(rule_.states[1], sequence); });
    return;
  }
  for (std::size_t i = 0; i < aggregates_.size(); ++i) {
    if (!aggregates_[i]) continue;
    announce(*aggregates_[i], i,
             [&](auto sequence) { return interval_of(rule_.aggregates[i].span, sequence); });
  }
}

template <class F>
void ColumnEvaluator::announce(Finder& finder, std::size_t index, F&& interval) {
  if (!finder.is_scanning()) return;
  if (!finder.wants_announcements()) return finder.announce({});
  if (work_->announced.size() <= index) work_->announced.resize(index + 1);
  auto& searches = work_->announced[index];
  searches.clear();
  for (const EventRef& terminator : work_->group) {
    const std::span sequence(&terminator, 1);
    searches.push_back(search(interval(sequence), sequence));
  }
  finder.announce(searches);
}

ColumnEvaluator::Outcome ColumnEvaluator::evaluate_terminator(EventRef terminator) {
  std::fill(work_->chosen.begin(), work_->chosen.end(), 0);
  if (!accepts(0, terminator)) return Outcome::complete;
  choose(0, terminator);
  return extend(1);
}

ColumnEvaluator::Outcome ColumnEvaluator::extend(std::size_t state) {
  if (state == rule_.states.size()) return finish();
  if (budget_->stopped()) return Outcome::stopped;
  const State& rule_state = rule_.states[state];
  const history::Range range =
      states_[state - 1].start(search(window_of(rule_state, work_->sequence), bound(state)));
  return rule_state.selection == Selection::each ? extend_each(state, range)
                                                 : extend_selected(state, range);
}

ColumnEvaluator::Outcome ColumnEvaluator::extend_each(std::size_t state, history::Range range) {
  Finder& finder = states_[state - 1];
  Outcome outcome = Outcome::complete;
  finder.ascending(range, [&](std::uint64_t position) {
    if (budget_->stopped()) outcome = Outcome::stopped;
    const EventRef event = finder.event(position);
    if (outcome == Outcome::complete && accepts(state, event)) outcome = extend_with(state, event);
    return outcome == Outcome::complete;
  });
  return outcome;
}

ColumnEvaluator::Outcome ColumnEvaluator::extend_selected(std::size_t state, history::Range range) {
  auto& selected = work_->selected[state];
  selected.clear();
  const history::HashIndex* const keys = keys_.empty() ? nullptr : keys_[state - 1].index.get();
  if (rule_.states[state].per.empty()) {
    select(state, range);
  } else if (keys != nullptr && keys->keys() < range.size()) {
    select_by_index(state, *keys);
  } else {
    select_per_key(state, range);
  }
  if (budget_->stopped()) return Outcome::stopped;
  for (const EventRef event : selected) {
    const Outcome outcome = extend_with(state, event);
    if (outcome != Outcome::complete) return outcome;
  }
  return Outcome::complete;
}

void ColumnEvaluator::select(std::size_t state, history::Range range) {
  const State& rule_state = rule_.states[state];
  auto& selected = work_->selected[state];
  in_order_of_choice(state, range, [&](EventRef event) {
    if (accepts(state, event)) selected.push_back(event);
    return selected.size() < rule_state.k;
  });
}

void ColumnEvaluator::select_per_key(std::size_t state, history::Range range) {
  const State& rule_state = rule_.states[state];
  auto& selected = work_->selected[state];
  work_->taken.clear();
  in_order_of_choice(state, range, [&](EventRef event) {
    std::uint64_t& taken = work_->taken.of(rule_state, event);
    if (taken < rule_state.k && accepts(state, event)) {
      ++taken;
      selected.push_back(event);
    }
    return true;
  });
}

/// Looks at the events of each key from the end where they are chosen.
void ColumnEvaluator::select_by_index(std::size_t state, const history::HashIndex& keys) {
  const State& rule_state = rule_.states[state];
  const Search wanted = search(window_of(rule_state, work_->sequence), bound(state));
  const history::EventStore& store = keys_[state - 1].column->store();
  const bool oldest =
      rule_state.selection == Selection::first || rule_state.selection == Selection::k_first;
  auto& selected = work_->selected[state];
  keys.for_each_later(wanted.interval.after, [&](const history::Posting& posting) {
    if (budget_->stopped()) return;
    const history::Range range = posting.window(wanted.interval.after, wanted.interval.before);
    std::uint64_t taken = 0;
    for (std::uint64_t i = 0; i < range.size() && taken < rule_state.k; ++i) {
      const std::uint64_t index = oldest ? range.first + i : range.last - 1 - i;
      const EventRef event{&store, posting.slot(index)};
      if (!wanted.sees(event, posting.timestamp(index)) || !accepts(state, event)) continue;
      ++taken;
      selected.push_back(event);
    }
  });
  std::ranges::sort(selected, {},
                    [](EventRef event) { return std::pair(event.timestamp(), event.slot); });
}

/// Calls `f(event)` for the matching events of the range, the first to be chosen first, until it
/// returns false. Leaves the chosen ones in ascending order.
template <class F>
void ColumnEvaluator::in_order_of_choice(std::size_t state, history::Range range, F&& f) {
  Finder& finder = states_[state - 1];
  const auto take = [&](std::uint64_t position) {
    return f(finder.event(position)) && !budget_->stopped();
  };
  const Selection selection = rule_.states[state].selection;
  if (selection == Selection::first || selection == Selection::k_first) {
    finder.ascending(range, take);
  } else {
    finder.descending(range, take);
    std::ranges::reverse(work_->selected[state]);
  }
}

ColumnEvaluator::Outcome ColumnEvaluator::extend_with(std::size_t state, EventRef event) {
  if (++work_->chosen[state] > rule_.options.max_sequences) return Outcome::overflow;
  choose(state, event);
  return extend(state + 1);
}

void ColumnEvaluator::choose(std::size_t state, EventRef event) {
  work_->sequence[state] = event;
  work_->choice[state] = ++work_->choices;
}

bool ColumnEvaluator::accepts(std::size_t state, EventRef candidate) {
  if (state_->is_consumed(state, candidate.slot)) return false;
  work_->sequence[state] = candidate;
  const auto& negations = plan_->states[state].negations;
  return std::none_of(negations.begin(), negations.end(), [&](std::uint32_t negation) {
    return is_violated(negation, bound(state + 1));
  });
}

bool ColumnEvaluator::is_violated(std::uint32_t negation, std::span<const EventRef> sequence) {
  Finder& finder = negations_[negation];
  const Interval span = interval_of(rule_.negations[negation].span, sequence);
  const history::Range range = finder.start(search(span, sequence));
  const bool none = finder.ascending(range, [](std::uint64_t) { return false; });
  return !none;
}

bool ColumnEvaluator::is_absent(std::uint32_t negation, std::span<const EventRef> sequence,
                                const RuleState& state) {
  state_ = &state;
  ordered_before_ = kEndOfTime;  // every event that is placed counts, whatever its root
  return !is_violated(negation, sequence);
}

ColumnEvaluator::Outcome ColumnEvaluator::finish() {
  for (std::size_t i = 0; i < work_->values.size(); ++i) aggregate(i);
  const history::Scope scope{
      .candidate = {}, .states = work_->sequence, .aggregates = work_->values};
  for (const Filter& filter : rule_.filters) {
    if (!history::holds(filter.condition, scope)) return Outcome::complete;
  }
  sink_->accept(work_->sequence, work_->values);
  return sink_->is_full() ? Outcome::stopped : Outcome::complete;
}

void ColumnEvaluator::aggregate(std::size_t index) {
  AggregateValue& computed = work_->computed[index];
  const std::uint64_t choice = work_->choice[plan_->aggregates[index].decided_at];
  if (computed.choice != choice) {
    computed = {choice, aggregates_[index] ? search(index) : read_panes(index)};
  }
  work_->values[index] = computed.value;
}

/// The value of an aggregate over the events of its window.
Datum ColumnEvaluator::search(std::size_t index) {
  const Interval span = interval_of(rule_.aggregates[index].span, work_->sequence);
  const history::Range range = aggregates_[index]->start(search(span, work_->sequence));
  return aggregates_[index]->aggregate(rule_.aggregates[index], range);
}

Datum ColumnEvaluator::read_panes(std::size_t index) const {
  return state_->timed().panes[index].value(*plan_, index, work_->sequence, *summed_[index]);
}

std::size_t ColumnEvaluator::bytes() const {
  std::size_t total = 0;
  for (const KeyIndex& keys : keys_) total += keys.index ? share_of(keys.index) : 0;
  for (const auto* list : {&states_, &negations_}) {
    for (const Finder& finder : *list) total += finder.bytes();
  }
  for (const auto& finder : aggregates_) total += finder ? finder->bytes() : 0;
  return total;
}

double ColumnEvaluator::upkeep() {
  double total = 0;
  for (const KeyIndex& keys : keys_) total += keys.index ? keys.index->upkeep().each() : 0;
  for (const auto* list : {&states_, &negations_}) {
    for (const Finder& finder : *list) total += finder.upkeep();
  }
  for (const auto& finder : aggregates_) total += finder ? finder->upkeep() : 0;
  return total;
}

}  // namespace

std::unique_ptr<CpuEvaluator> ColumnEngine::make(std::shared_ptr<const plan::Plan> plan,
                                                 history::History& history) const {
  return std::make_unique<ColumnEvaluator>(std::move(plan), history, true);
}

std::unique_ptr<CpuEvaluator> ColumnScanEngine::make(std::shared_ptr<const plan::Plan> plan,
                                                     history::History& history) const {
  return std::make_unique<ColumnEvaluator>(std::move(plan), history, false);
}

}  // namespace gorgo::engine
