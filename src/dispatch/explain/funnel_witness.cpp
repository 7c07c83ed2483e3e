#include "dispatch/explain/funnel_witness.hpp"

#include <algorithm>
#include <utility>

#include "base/arithmetic.hpp"
#include "functions/computed_texts.hpp"

namespace gorgo::dispatch {

using history::EventRef;
using LossKind = Loss::Kind;

FunnelWitness::FunnelWitness(const Rule& rule, const Schema& schema,
                             const history::History& history)
    : rule_(rule), history_(history), text_(rule, schema) {
  for (std::uint32_t i = 0; i < rule_.states.size(); ++i) add_state(i);
  add_filters_and_where();
  std::vector<Test> absences;
  for (std::uint32_t i = 0; i < rule_.negations.size(); ++i) {
    if (rule_.negations[i].span.kind == SpanKind::after) absences.push_back({LossKind::absence, i});
  }
  absence_step_ = steps_.size();
  if (!absences.empty()) add_step(Step::Kind::absence, "deadline", absences);
}

void FunnelWitness::add_step(Step::Kind kind, std::string clause, const std::vector<Test>& tests) {
  const std::size_t step = steps_.size();
  steps_.push_back({.kind = kind, .clause = std::move(clause), .losses = {}, .outside = {}});
  tests_.push_back(tests);
  for (const Test& test : tests) {
    steps_.back().losses.push_back({.kind = test.kind, .test = text_of(step, test), .nearest = {}});
  }
}

void FunnelWitness::add_state(std::uint32_t state) {
  std::vector<Test> tests;
  const auto& consuming = rule_.consuming;
  if (std::find(consuming.begin(), consuming.end(), state) != consuming.end()) {
    tests.push_back({LossKind::consumed});
  }
  const std::size_t conditions = rule_.states[state].predicate.conditions.size();
  for (std::uint32_t i = 0; i < conditions; ++i) tests.push_back({LossKind::condition, i});
  for (std::uint32_t i = 0; i < rule_.negations.size(); ++i) {
    const Negation& negation = rule_.negations[i];
    if (negation.span.kind != SpanKind::after && negation.completed_at == state) {
      tests.push_back({LossKind::negation, i});
    }
  }
  add_step(state == 0 ? Step::Kind::terminator : Step::Kind::state, text_.clause(state), tests);
}

void FunnelWitness::add_filters_and_where() {
  for (std::uint32_t i = 0; i < rule_.filters.size(); ++i) {
    add_step(Step::Kind::filter, text_.filter(rule_.filters[i]), {{LossKind::filter, i}});
  }
  std::vector<Test> values;
  for (const std::uint32_t i : rule_.required) values.push_back({LossKind::no_value, i, true});
  for (std::uint32_t i = 0; i < rule_.assignments.size(); ++i) {
    values.push_back({LossKind::no_value, i});
  }
  std::string clause = "where";
  if (!rule_.order.empty()) clause += ", order by " + text_.rule().order();
  if (rule_.limit) clause += ", limit " + std::to_string(*rule_.limit);
  if (rule_.at_most) clause += ", at most " + text_.rule().at_most();
  add_step(Step::Kind::where, std::move(clause), values);
}

std::string FunnelWitness::text_of(std::size_t step, const Test& test) const {
  switch (test.kind) {
    case LossKind::consumed:
      return "not consumed";
    case LossKind::condition: {
      const Predicate& predicate = rule_.states[step].predicate;
      return text_.rule().expr(predicate.conditions[test.index], predicate.type);
    }
    case LossKind::negation:
    case LossKind::absence:
      return text_.negation(rule_.negations[test.index]);
    case LossKind::filter:
      return steps_[step].clause;
    case LossKind::no_value:
      break;
  }
  return test.required ? text_.aggregate(test.index) : text_.assignment(test.index);
}

void FunnelWitness::begin(EventRef terminator) {
  terminator_ = terminator;
  tallies_.assign(steps_.size(), {});
  for (std::size_t i = 0; i < steps_.size(); ++i) tallies_[i].losses.resize(tests_[i].size());
  tallies_[0].sequences = 1;
  searches_.assign(rule_.states.size(), {});
  complete_ = 0;
}

void FunnelWitness::search(std::size_t state, Sequence partial, engine::Interval window) {
  ++tallies_[state].sequences;
  searches_[state] = {{partial.begin(), partial.end()}, window};
}

void FunnelWitness::passed(std::size_t state) {
  ++tallies_[state].candidates;
  ++tallies_[state].passed;
}

void FunnelWitness::chosen(std::size_t state, std::size_t sequences) {
  tallies_[state].left = sequences;
}

std::size_t FunnelWitness::find_loss(std::size_t step, LossKind kind, std::uint32_t index) const {
  const auto& tests = tests_[step];
  const auto found = std::find_if(tests.begin(), tests.end(), [&](const Test& test) {
    return test.kind == kind && test.index == index;
  });
  return static_cast<std::size_t>(found - tests.begin());
}

void FunnelWitness::lose(std::size_t step, LossKind kind, std::uint32_t index, Nearest nearest) {
  LossTally& loss = tallies_[step].losses[find_loss(step, kind, index)];
  ++loss.count;
  // Candidates come oldest first: of those that are equally near, the newest stays.
  if (!loss.nearest || nearest.nearness <= loss.nearest->nearness) {
    loss.nearest = std::move(nearest);
  }
}

void FunnelWitness::consumed(std::size_t state, Sequence extended, EventRef by) {
  ++tallies_[state].candidates;
  const history::Scope scope{.candidate = extended.back(), .states = extended, .aggregates = {}};
  const auto& conditions = rule_.states[state].predicate.conditions;
  const auto fails = std::count_if(conditions.begin(), conditions.end(),
                                   [&](const Expr& e) { return !history::holds(e, scope); });
  lose(state, LossKind::consumed, 0,
       {.nearness = {.failed = static_cast<std::size_t>(fails)},
        .sequence = {extended.begin(), extended.end()},
        .aggregates = {},
        .by = by});
}

void FunnelWitness::failed(std::size_t state, std::size_t condition, Sequence extended) {
  ++tallies_[state].candidates;
  const history::Scope scope{.candidate = extended.back(), .states = extended, .aggregates = {}};
  const auto& conditions = rule_.states[state].predicate.conditions;
  lose(state, LossKind::condition, static_cast<std::uint32_t>(condition),
       {.nearness = nearness(conditions, condition, scope),
        .sequence = {extended.begin(), extended.end()},
        .aggregates = {},
        .by = {}});
}

void FunnelWitness::violated(std::size_t state, std::size_t negation, Sequence extended,
                             EventRef by) {
  ++tallies_[state].candidates;
  lose(
      state, LossKind::negation, static_cast<std::uint32_t>(negation),
      {.nearness = {}, .sequence = {extended.begin(), extended.end()}, .aggregates = {}, .by = by});
}

void FunnelWitness::complete(Sequence sequence, std::span<const Datum> aggregates,
                             std::size_t filter) {
  ++complete_;
  const std::size_t first = rule_.states.size();
  for (std::size_t i = 0; i < rule_.filters.size() && i <= filter; ++i) {
    Tally& tally = tallies_[first + i];
    ++tally.sequences;
    ++tally.candidates;
    if (i < filter) ++tally.passed, ++tally.left;
  }
  if (filter == rule_.filters.size()) return count_values(first + filter, sequence, aggregates);
  const history::Scope scope{.candidate = {}, .states = sequence, .aggregates = aggregates};
  const Expr& condition = rule_.filters[filter].condition;
  lose(first + filter, LossKind::filter, static_cast<std::uint32_t>(filter),
       {.nearness = nearness({&condition, 1}, 0, scope),
        .sequence = {sequence.begin(), sequence.end()},
        .aggregates = {aggregates.begin(), aggregates.end()},
        .by = {}});
}

/// A `$t` or an attribute without a value drops the sequence (language.md §5).
void FunnelWitness::count_values(std::size_t step, Sequence sequence,
                                 std::span<const Datum> aggregates) {
  Tally& tally = tallies_[step];
  ++tally.sequences;
  ++tally.candidates;
  const history::Scope scope{.candidate = {}, .states = sequence, .aggregates = aggregates};
  const functions::ComputedTexts texts;
  for (std::size_t i = 0; i < tests_[step].size(); ++i) {
    const Test& test = tests_[step][i];
    const bool exists = test.required
                            ? aggregates[test.index].exists()
                            : history::evaluate(rule_.assignments[test.index], scope).exists();
    if (exists) continue;
    ++tally.losses[i].count;
    tally.losses[i].nearest = Nearest{.nearness = {},
                                      .sequence = {sequence.begin(), sequence.end()},
                                      .aggregates = {aggregates.begin(), aggregates.end()},
                                      .by = {}};
    return;
  }
  ++tally.passed;
  ++tally.left;
}

void FunnelWitness::absent() {
  Tally& tally = tallies_[absence_step_];
  ++tally.sequences;
  ++tally.candidates;
  ++tally.passed;
  ++tally.left;
}

void FunnelWitness::came(std::uint32_t negation, Sequence sequence, EventRef by) {
  ++tallies_[absence_step_].sequences;
  ++tallies_[absence_step_].candidates;
  lose(
      absence_step_, LossKind::absence, negation,
      {.nearness = {}, .sequence = {sequence.begin(), sequence.end()}, .aggregates = {}, .by = by});
}

std::string FunnelWitness::consumer(EventRef by) const {
  const bool remembered = by.slot >= by.store->begin();
  return "by " + (remembered ? text_.event(rule_.states[0].predicate.type, by)
                             : "an earlier " + text_.rule().state(0));
}

Miss FunnelWitness::miss(std::size_t step, std::size_t loss) const {
  const Nearest& nearest = *tallies_[step].losses[loss].nearest;
  const Test& test = tests_[step][loss];
  const bool of_state = step < rule_.states.size();
  const history::Scope scope{.candidate = of_state ? nearest.sequence.back() : EventRef{},
                             .states = nearest.sequence,
                             .aggregates = nearest.aggregates};
  Miss result{.event = text_.sequence(nearest.sequence),
              .test = steps_[step].losses[loss].test,
              .found = "no value"};
  if (of_state) {
    result.event = text_.event(rule_.states[step].predicate.type, nearest.sequence.back());
  }
  switch (test.kind) {
    case LossKind::consumed:
      result.found = consumer(*nearest.by);
      break;
    case LossKind::condition: {
      const Predicate& predicate = rule_.states[step].predicate;
      result.found = text_.found(predicate.conditions[test.index], predicate.type, scope);
      break;
    }
    case LossKind::filter:
      result.found = text_.found(rule_.filters[test.index].condition, kNoType, scope);
      break;
    case LossKind::negation:
    case LossKind::absence:
      result.found = text_.event(rule_.negations[test.index].predicate.type, *nearest.by);
      break;
    case LossKind::no_value:
      break;
  }
  return result;
}

/// The event of the state's type that lies nearest to the window of its last search. One that came
/// after the terminator is named if the rule would find it by looking ahead, which it does not.
std::optional<Miss> FunnelWitness::outside(std::size_t state) const {
  const Search& search = searches_[state];
  if (search.partial.empty()) return std::nullopt;
  const TypeId type = rule_.states[state].predicate.type;
  const Timestamp reference = search.window.before;
  const history::EventStore& store = history_.store(type);
  std::optional<history::Slot> best;
  Duration least = 0;
  for (history::Slot slot = store.begin(); slot < store.end(); ++slot) {
    if (store.root(slot) == terminator_.root()) continue;
    const Timestamp at = store.timestamp(slot);
    const Duration distance = at >= reference
                                  ? arithmetic::saturating_subtract(at, reference)
                                  : arithmetic::saturating_subtract(search.window.after, at);
    const bool later = store.root(slot) > terminator_.root();
    if (later && (at <= reference || distance >= rule_.states[state].width)) continue;
    if (!best || distance <= least) best = slot, least = distance;
  }
  if (!best) return std::nullopt;
  const Duration ago = arithmetic::saturating_subtract(reference, store.timestamp(*best));
  const std::string name = text_.rule().state(rule_.states[state].reference);
  const std::string found =
      ago == 0  ? "at the time of " + name
      : ago > 0 ? language::duration_text(ago) + " before " + name
                : language::duration_text(-ago) + " after " + name + ", but a rule looks back";
  return Miss{.event = text_.event(type, {&store, *best}),
              .test = text_.rule().window(rule_.states[state]),
              .found = found};
}

std::optional<Miss> FunnelWitness::nearest_miss(const std::vector<Step>& steps) const {
  std::size_t step = steps.size();
  while (step > 0 && steps[step - 1].sequences == 0) --step;
  if (step == 0) return std::nullopt;
  --step;
  const auto& losses = tallies_[step].losses;
  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < losses.size(); ++i) {
    if (!losses[i].nearest) continue;
    if (!best || losses[i].nearest->nearness < losses[*best].nearest->nearness) best = i;
  }
  return best ? std::optional(miss(step, *best)) : steps[step].outside;
}

Funnel FunnelWitness::take(std::uint64_t composites, std::uint64_t waiting, std::uint64_t cut) {
  Funnel funnel;
  funnel.event = text_.event(rule_.states[0].predicate.type, terminator_);
  funnel.timestamp = terminator_.timestamp();
  funnel.complete = complete_;
  funnel.composites = composites;
  funnel.waiting = waiting;
  funnel.cut = cut;
  funnel.steps = steps_;
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    Step& step = funnel.steps[i];
    const Tally& tally = tallies_[i];
    step.sequences = tally.sequences;
    step.candidates = tally.candidates;
    step.passed = tally.passed;
    step.left = tally.left;
    const bool limited = step.kind == Step::Kind::where && rule_.limit;
    if (limited) step.left = std::min(step.left, *rule_.limit);
    for (std::size_t l = 0; l < step.losses.size(); ++l) {
      step.losses[l].count = tally.losses[l].count;
      if (tally.losses[l].nearest) step.losses[l].nearest = miss(i, l);
    }
    const bool searched = step.kind == Step::Kind::state && step.sequences > 0;
    if (searched && step.candidates == 0) step.outside = outside(i);
  }
  if (composites + waiting + cut == 0) funnel.nearest = nearest_miss(funnel.steps);
  return funnel;
}

}  // namespace gorgo::dispatch
