#include "engine/automaton/automaton.hpp"

#include <algorithm>
#include <limits>
#include <new>
#include <utility>

#include "base/arithmetic.hpp"
#include "engine/automaton/instances.hpp"
#include "engine/automaton/model.hpp"
#include "engine/column/column.hpp"
#include "engine/column/finder.hpp"
#include "engine/keys.hpp"

namespace gorgo::engine {
namespace {

using history::EventRef;
using history::Slot;

constexpr std::string_view kLate = "late events";
constexpr std::string_view kTooMany = "too many partial sequences";

std::vector<Finder> finders_of(std::span<const plan::Scan> scans, history::History& history) {
  std::vector<Finder> finders;
  for (const plan::Scan& scan : scans) {
    finders.emplace_back(scan, history, true, Selectivity::until_found);
  }
  return finders;
}

class AutomatonEvaluator final : public CpuEvaluator {
 public:
  AutomatonEvaluator(std::shared_ptr<const plan::Plan> plan, history::History& history);

  std::size_t evaluate(const Terminators& terminators, const RuleState& state, const Budget& budget,
                       CompositeSink& sink) override;
  bool is_absent(std::uint32_t negation, std::span<const EventRef> sequence,
                 const RuleState& state) override;
  std::size_t bytes() const override;
  double upkeep() override;
  Declined declined() const override { return declined_; }

 private:
  enum class Outcome { complete, overflow, declined, stopped };

  /// What is known of a type whose late events would make partial sequences wrong.
  struct Watched {
    const history::EventStore* store;
    Slot end;
    std::uint64_t late;
  };

  std::size_t evaluate(const Terminators& terminators);
  bool came_late();
  Outcome take_in(Timestamp now);
  std::size_t decline(const Terminators& terminators, const RuleState& state, const Budget& budget,
                      CompositeSink& sink);

  Outcome evaluate_terminator(EventRef terminator);
  /// Collects the partial sequences that end with the state and match the terminator: in runs that
  /// agree on the states before, each in the order of the state's events.
  void gather(std::uint32_t state);
  /// Whether the gathered partial sequence belongs to an earlier run than the events in hand, or,
  /// with `or_same`, to their own.
  bool is_before(std::uint32_t state, std::uint64_t position, bool or_same) const;
  /// Extends each sequence of the states before with events of this state.
  Outcome choose(std::uint32_t state);
  void select(std::uint32_t state, std::span<const std::uint64_t> run);
  void bind(std::span<const Slot> slots);
  Outcome finish();
  void aggregate(std::size_t index);

  std::shared_ptr<const plan::Plan> plan_;
  const Rule& rule_;
  const Model model_;
  std::vector<Finder> negations_;
  std::vector<Finder> aggregates_;
  Instances instances_;
  std::unique_ptr<CpuEvaluator> scans_;  // evaluates what the automaton declines
  std::vector<Watched> watched_;
  Duration reach_ = 0;  // of all states
  Declined declined_;
  Timestamp declining_until_ = kBeginning;

  // The members below belong to the terminator in hand.
  const RuleState* state_ = nullptr;
  const Budget* budget_ = nullptr;
  CompositeSink* sink_ = nullptr;
  std::vector<EventRef> sequence_;
  std::vector<std::uint64_t> gathered_;  // positions in the pool of a state
  std::vector<Slot> chosen_;             // sequences of the states so far, one behind the other
  std::vector<Slot> extended_;           // sequences with one state more
  std::vector<Slot> selected_;           // events for one of them
  TakenByKey taken_;                     // of them
  std::vector<Datum> values_;            // of the aggregates
  std::uint32_t agreeing_ = 0;           // states for which the last sequence had the same events
};

AutomatonEvaluator::AutomatonEvaluator(std::shared_ptr<const plan::Plan> plan,
                                       history::History& history)
    : plan_(std::move(plan)),
      rule_(plan_->rule),
      model_(make_model(*plan_)),
      negations_(finders_of(plan_->negations, history)),
      instances_(*plan_, model_, negations_, history),
      scans_(ColumnScanEngine().make(plan_, history)),
      sequence_(rule_.states.size()),
      values_(rule_.aggregates.size()) {
  for (std::size_t i = 0; i < plan_->aggregates.size(); ++i) {
    aggregates_.emplace_back(plan_->aggregates[i].scan, history, true, rule_.aggregates[i]);
  }
  const auto watch = [&](TypeId type) { watched_.push_back({&history.store(type), 0, 0}); };
  for (std::size_t i = 1; i < rule_.states.size(); ++i) {
    watch(rule_.states[i].predicate.type);
    reach_ = std::max(reach_, model_.states[i].reach);
  }
  for (const Negation& negation : rule_.negations) watch(negation.predicate.type);
}

std::size_t AutomatonEvaluator::evaluate(const Terminators& terminators, const RuleState& state,
                                         const Budget& budget, CompositeSink& sink) {
  state_ = &state;
  budget_ = &budget;
  sink_ = &sink;
  if (!terminators.in_order()) {
    declined_.reason = kLate;
    return decline(terminators, state, budget, sink);
  }
  try {
    return evaluate(terminators);
  } catch (const std::bad_alloc&) {
    instances_.clear();  // some may lack an event
    throw;
  }
}

std::size_t AutomatonEvaluator::evaluate(const Terminators& terminators) {
  const RuleState& state = *state_;
  const Budget& budget = *budget_;
  CompositeSink& sink = *sink_;
  if (came_late()) instances_.clear();
  const auto slots = terminators.slots;
  for (std::size_t t = 0; t < slots.size(); ++t) {
    if (budget.stopped() || !sink.has_room(static_cast<std::uint32_t>(t))) return t;
    const EventRef terminator{&instances_.store(0), slots[t]};
    const Outcome ready = take_in(terminator.timestamp());
    if (ready == Outcome::declined && t == 0) return decline(terminators, state, budget, sink);
    if (ready != Outcome::complete) return t;
    sink.begin(static_cast<std::uint32_t>(t));
    switch (evaluate_terminator(terminator)) {
      case Outcome::overflow:
        sink.overflow();
        break;
      case Outcome::stopped:
        sink.discard();
        return t;
      default:
        sink.commit();
    }
  }
  return slots.size();
}

/// Takes in what a terminator of this time can reach, unless it declines.
AutomatonEvaluator::Outcome AutomatonEvaluator::take_in(Timestamp now) {
  if (now < instances_.advanced_to()) {
    declined_.reason = kLate;
    return Outcome::declined;
  }
  if (now < declining_until_) {
    declined_.reason = kTooMany;
    return Outcome::declined;
  }
  switch (instances_.advance(now, *state_, *budget_)) {
    case Instances::Outcome::complete:
      return Outcome::complete;
    case Instances::Outcome::stopped:
      return Outcome::stopped;
    case Instances::Outcome::too_many:
      break;
  }
  declined_.reason = kTooMany;
  declining_until_ = arithmetic::saturating_add(now, reach_);
  return Outcome::declined;
}

/// Whether an event has become known that came too late to be taken in.
bool AutomatonEvaluator::came_late() {
  bool late = false;
  for (Watched& watched : watched_) {
    const history::EventStore& store = *watched.store;
    const Slot next = std::max(watched.end, store.begin());
    late = late || store.late() != watched.late ||
           (next < store.end() && store.timestamp(next) < instances_.advanced_to());
    watched.end = store.end();
    watched.late = store.late();
  }
  return late;
}

/// Leaves the terminators to the scans.
std::size_t AutomatonEvaluator::decline(const Terminators& terminators, const RuleState& state,
                                        const Budget& budget, CompositeSink& sink) {
  const std::size_t done = scans_->evaluate(terminators, state, budget, sink);
  declined_.terminators += done;
  return done;
}

AutomatonEvaluator::Outcome AutomatonEvaluator::evaluate_terminator(EventRef terminator) {
  sequence_[0] = terminator;
  if (!instances_.pass(model_.terminator, sequence_, *state_)) return Outcome::complete;
  chosen_.assign(1, terminator.slot);
  for (std::uint32_t i = 1; i < rule_.states.size() && !chosen_.empty(); ++i) {
    gather(i);
    if (const Outcome outcome = choose(i); outcome != Outcome::complete) return outcome;
  }
  return finish();
}

void AutomatonEvaluator::gather(std::uint32_t state) {
  gathered_.clear();
  const std::uint32_t index = model_.finals[state].pool;
  const PartialSequences& pool = instances_.pool(index);
  const auto hash = instances_.wanted(index, sequence_);
  if (!hash) return;
  const Timestamp now = sequence_[0].timestamp();
  const Interval window{arithmetic::saturating_subtract(now, model_.pools[index].width), now};
  pool.newest_first(*hash, window, [&](std::uint64_t position) {
    const Slot last = pool.events(position).back();
    if (!state_->is_consumed(state, last)) gathered_.push_back(position);
    return true;
  });
  const history::EventStore& store = instances_.store(state);
  std::sort(gathered_.begin(), gathered_.end(), [&](std::uint64_t a, std::uint64_t b) {
    const auto x = pool.events(a), y = pool.events(b);
    const auto differing = std::mismatch(x.begin(), x.end() - 1, y.begin());
    if (differing.first != x.end() - 1) return *differing.first < *differing.second;
    const Timestamp s = store.timestamp(x.back()), t = store.timestamp(y.back());
    return s != t ? s < t : x.back() < y.back();
  });
}

bool AutomatonEvaluator::is_before(std::uint32_t state, std::uint64_t position,
                                   bool or_same) const {
  const std::uint32_t index = model_.finals[state].pool;
  const auto& states = model_.pools[index].states;
  const auto events = instances_.pool(index).events(position);
  for (std::size_t i = 0; i + 1 < states.size(); ++i) {
    const Slot chosen = sequence_[states[i]].slot;
    if (events[i] != chosen) return events[i] < chosen;
  }
  return or_same;
}

AutomatonEvaluator::Outcome AutomatonEvaluator::choose(std::uint32_t state) {
  const auto before = std::span(std::as_const(chosen_));
  extended_.clear();
  for (std::size_t first = 0; first < before.size(); first += state) {
    if (budget_->stopped()) return Outcome::stopped;
    bind(before.subspan(first, state));
    const auto begin = std::partition_point(gathered_.begin(), gathered_.end(),
                                            [&](auto p) { return is_before(state, p, false); });
    const auto end = std::partition_point(begin, gathered_.end(),
                                          [&](auto p) { return is_before(state, p, true); });
    select(state, {begin, end});
    if (budget_->stopped()) return Outcome::stopped;
    for (const Slot slot : selected_) {
      const auto sequence = before.subspan(first, state);
      extended_.insert(extended_.end(), sequence.begin(), sequence.end());
      extended_.push_back(slot);
    }
    if (extended_.size() / (state + 1) > rule_.options.max_sequences) return Outcome::overflow;
  }
  chosen_.swap(extended_);
  return Outcome::complete;
}

/// Selects events for the state from those that extend the sequence in hand.
void AutomatonEvaluator::select(std::uint32_t state, std::span<const std::uint64_t> run) {
  const State& rule_state = rule_.states[state];
  const PartialSequences& pool = instances_.pool(model_.finals[state].pool);
  const bool newest = rule_state.selection == Selection::last ||  //
                      rule_state.selection == Selection::k_last;
  const bool per_key = !rule_state.per.empty();
  const bool all = rule_state.selection == Selection::each || per_key;
  const std::size_t most = all ? run.size() : rule_state.k;
  selected_.clear();
  taken_.clear();
  for (std::size_t i = 0; i < run.size() && selected_.size() < most; ++i) {
    if (budget_->stopped()) return;
    const Slot slot = pool.events(newest ? run[run.size() - 1 - i] : run[i]).back();
    sequence_[state] = {&instances_.store(state), slot};
    std::uint64_t* const taken = per_key ? &taken_.of(rule_state, sequence_[state]) : nullptr;
    if (taken != nullptr && *taken == rule_state.k) continue;
    if (!instances_.pass(model_.finals[state].tests, sequence_, *state_)) continue;
    if (taken != nullptr) ++*taken;
    selected_.push_back(slot);
  }
  if (newest) std::reverse(selected_.begin(), selected_.end());
}

void AutomatonEvaluator::bind(std::span<const Slot> slots) {
  for (std::uint32_t i = 0; i < slots.size(); ++i) {
    sequence_[i] = {&instances_.store(i), slots[i]};
  }
}

AutomatonEvaluator::Outcome AutomatonEvaluator::finish() {
  const std::size_t width = rule_.states.size();
  const auto chosen = std::span(std::as_const(chosen_));
  for (std::size_t first = 0; first < chosen.size(); first += width) {
    const auto sequence = chosen.subspan(first, width);
    agreeing_ = 0;
    while (first > 0 && agreeing_ < width &&
           sequence[agreeing_] == chosen[first - width + agreeing_])
      ++agreeing_;
    bind(sequence);
    for (std::size_t i = 0; i < values_.size(); ++i) aggregate(i);
    const history::Scope scope{.candidate = {}, .states = sequence_, .aggregates = values_};
    const auto holds = [&](const Filter& f) { return history::holds(f.condition, scope); };
    if (std::all_of(rule_.filters.begin(), rule_.filters.end(), holds)) {
      sink_->accept(sequence_, values_);
    }
    if (sink_->is_full() || budget_->stopped()) return Outcome::stopped;
  }
  return Outcome::complete;
}

void AutomatonEvaluator::aggregate(std::size_t index) {
  if (agreeing_ > plan_->aggregates[index].decided_at) return;  // the value is the same
  const Aggregate& aggregate = rule_.aggregates[index];
  const Interval span = visible(interval_of(aggregate.span, sequence_), *state_);
  const history::Range range = aggregates_[index].start({span, sequence_});
  values_[index] = aggregates_[index].aggregate(aggregate, range);
}

bool AutomatonEvaluator::is_absent(std::uint32_t negation, std::span<const EventRef> sequence,
                                   const RuleState& state) {
  return instances_.is_absent(negation, sequence, state);
}

std::size_t AutomatonEvaluator::bytes() const {
  std::size_t total = instances_.bytes() + scans_->bytes();
  for (const auto* list : {&negations_, &aggregates_}) {
    for (const Finder& finder : *list) total += finder.bytes();
  }
  return total;
}

double AutomatonEvaluator::upkeep() {
  double total = instances_.upkeep() + scans_->upkeep();
  for (const auto* list : {&negations_, &aggregates_}) {
    for (const Finder& finder : *list) total += finder.upkeep();
  }
  return total;
}

}  // namespace

/// A row of a table would have to be kept as a partial sequence for ever, and which events are the
/// newest ones tells the terminator alone.
std::string AutomatonEngine::reason_to_decline(const plan::Plan& plan) const {
  if (plan.panes) return "its aggregates come from panes";
  for (const State& state : plan.rule.states) {
    if (state.table) return state.name + ": it is a table";
    if (state.among) return state.name + ": it counts the events of its window";
  }
  return "";
}

std::unique_ptr<CpuEvaluator> AutomatonEngine::make(std::shared_ptr<const plan::Plan> plan,
                                                    history::History& history) const {
  if (!reason_to_decline(*plan).empty()) return ColumnEngine().make(std::move(plan), history);
  return std::make_unique<AutomatonEvaluator>(std::move(plan), history);
}

}  // namespace gorgo::engine
