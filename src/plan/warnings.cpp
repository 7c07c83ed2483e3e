#include "plan/warnings.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "base/arithmetic.hpp"
#include "language/reporter.hpp"
#include "language/rule_text.hpp"
#include "plan/looking_back.hpp"
#include "plan/period.hpp"
#include "plan/satisfiable.hpp"
#include "plan/strata.hpp"

namespace gorgo::plan {
namespace {

using language::in_quotes;

void for_each_node(const Expr& expr, const std::function<void(const Expr&)>& f) {
  f(expr);
  for (const Expr& arg : expr.args) for_each_node(arg, f);
}

/// The warnings about one rule by itself.
class RuleWarnings {
 public:
  RuleWarnings(const Rule& rule, const Schema& schema, language::Reporter& reporter)
      : rule_(rule), schema_(schema), text_(rule, schema), reporter_(reporter) {}

  void report() {
    if (!report_never_fires()) report_empty_spans();
    report_period();
    report_looking_back();
    report_product();
    report_float_equality();
  }

 private:
  /// A condition and the type of the event that it is tested on.
  struct Condition {
    const Expr* expr;
    TypeId candidate;
  };
  /// Why conditions cannot hold, and what to do; empty texts: they may hold.
  struct Obstacle {
    std::string why;
    std::string hint;
  };
  /// Conditions by the attribute that they are about; states stand for the candidates that fill
  /// them.
  using BySubject = std::map<Subject, std::vector<Condition>>;

  bool report_never_fires();
  void report_empty_spans();
  void report_period();
  void report_looking_back();
  void report_product();
  void report_float_equality();

  /// Why no event passes, "" when some may.
  std::string why_nothing_passes(const Predicate& predicate) const;
  Obstacle never(const std::vector<Condition>& conditions) const;
  void collect(const Expr& condition, TypeId candidate, std::int32_t state, BySubject& all) const;
  Obstacle contradictory(const BySubject& all) const;
  std::string why_empty(const Span& span) const;
  /// The largest distance in time that two chosen events can have.
  Duration largest_distance(std::uint32_t a, std::uint32_t b) const;
  std::vector<std::uint32_t> linked_groups() const;
  void warn(const std::string& message, std::string hint) {
    reporter_.warning(rule_.at, message, std::move(hint));
  }
  std::string named() const { return "rule " + in_quotes(rule_.name); }

  const Rule& rule_;
  const Schema& schema_;
  const language::RuleText text_;
  language::Reporter& reporter_;
};

void RuleWarnings::collect(const Expr& condition, TypeId candidate, std::int32_t state,
                           BySubject& all) const {
  auto subject = only_subject(condition);
  if (!subject || condition.op == Op::present) return;
  if (subject->source == kCandidate) subject->source = state;
  all[*subject].push_back({&condition, candidate});
}

RuleWarnings::Obstacle RuleWarnings::contradictory(const BySubject& all) const {
  for (const auto& [subject, conditions] : all) {
    std::vector<const Expr*> exprs;
    for (const Condition& condition : conditions) exprs.push_back(condition.expr);
    const auto parts = contradiction(exprs, subject.type);
    std::vector<std::string> shown;
    for (const Expr* expr : parts) {
      const auto at = std::find_if(conditions.begin(), conditions.end(),
                                   [&](const Condition& c) { return c.expr == expr; });
      shown.push_back(text_.expr(*expr, at->candidate));
    }
    if (shown.empty()) continue;
    const std::string why = "no value satisfies " + language::listing(shown, "and");
    const bool alone = shown.size() == 1 && parts.front()->op != Op::logical_and;
    return {why, alone ? "correct the condition, or the type of its attribute"
                       : "conditions must all hold; write `or` where one of them is enough"};
  }
  return {};
}

RuleWarnings::Obstacle RuleWarnings::never(const std::vector<Condition>& conditions) const {
  for (const auto& [expr, candidate] : conditions) {
    if (!is_never(*expr)) continue;
    return {in_quotes(text_.expr(*expr, candidate)) + " is never true",
            "correct the condition; it compares constants alone"};
  }
  return {};
}

std::string RuleWarnings::why_nothing_passes(const Predicate& predicate) const {
  BySubject all;
  std::vector<Condition> conditions;
  for (const Expr& condition : predicate.conditions) {
    conditions.push_back({&condition, predicate.type});
    const auto subject = only_subject(condition);
    if (subject && subject->source == kCandidate) {
      collect(condition, predicate.type, kCandidate, all);
    }
  }
  const std::string why = never(conditions).why;
  return why.empty() ? contradictory(all).why : why;
}

bool RuleWarnings::report_never_fires() {
  BySubject all;
  std::vector<Condition> conditions;
  for (std::size_t i = 0; i < rule_.states.size(); ++i) {
    const State& state = rule_.states[i];
    for (const Expr& condition : state.predicate.conditions) {
      conditions.push_back({&condition, state.predicate.type});
      collect(condition, state.predicate.type, static_cast<std::int32_t>(i), all);
    }
  }
  for (const Filter& filter : rule_.filters) {
    conditions.push_back({&filter.condition, kNoType});
    collect(filter.condition, kNoType, kCandidate, all);
  }
  Obstacle obstacle = never(conditions);
  if (obstacle.why.empty()) obstacle = contradictory(all);
  if (obstacle.why.empty()) return false;
  warn(named() + " can never fire: " + obstacle.why, std::move(obstacle.hint));
  return true;
}

void RuleWarnings::report_empty_spans() {
  for (std::size_t i = 1; i < rule_.states.size(); ++i) {
    if (rule_.states[i].width > 1) continue;
    warn(named() + " can never fire: no time lies " + in_quotes(text_.window(rule_.states[i])),
         "intervals are open on both sides; the shortest that holds an event is 2 ns");
  }
  for (const Negation& negation : rule_.negations) {
    std::string why = why_nothing_passes(negation.predicate);
    if (why.empty()) why = why_empty(negation.span);
    if (why.empty()) continue;
    warn("a negation of " + named() + " excludes nothing: " + why,
         "correct or leave out `not " + text_.type(negation.predicate.type) + "(...)`");
  }
  for (const Aggregate& aggregate : rule_.aggregates) {
    std::string why = why_nothing_passes(aggregate.predicate);
    if (why.empty()) why = why_empty(aggregate.span);
    if (why.empty()) continue;
    warn("an aggregate of " + named() + " is over nothing: " + why,
         "correct " + in_quotes(text_.aggregate(aggregate)));
  }
}

std::string RuleWarnings::why_empty(const Span& span) const {
  const bool empty = span.kind == SpanKind::between ? largest_distance(span.first, span.second) <= 1
                                                    : span.width == 1;
  return empty ? "no time lies " + in_quotes(text_.span(span)) : "";
}

Duration RuleWarnings::largest_distance(std::uint32_t a, std::uint32_t b) const {
  // How far each lies behind the state at which their chains of references meet.
  struct Range {
    Duration least = 0, most = 0;
  } before_a, before_b;
  while (a != b) {
    std::uint32_t& later = a > b ? a : b;
    Range& range = a > b ? before_a : before_b;
    range.least = arithmetic::saturating_add(range.least, 1);
    range.most = arithmetic::saturating_add(range.most, rule_.states[later].width - 1);
    later = rule_.states[later].reference;
  }
  return std::max(arithmetic::saturating_subtract(before_a.most, before_b.least),
                  arithmetic::saturating_subtract(before_b.most, before_a.least));
}

/// By state: the number of the group of states that conditions link, directly or not.
std::vector<std::uint32_t> RuleWarnings::linked_groups() const {
  std::vector<std::uint32_t> group(rule_.states.size());
  std::iota(group.begin(), group.end(), 0);
  const auto find = [&](std::uint32_t state) {
    while (group[state] != state) state = group[state] = group[group[state]];
    return state;
  };
  const auto link = [&](std::uint32_t a, std::uint32_t b) { group[find(b)] = find(a); };
  const auto link_mentioned = [&](const Expr& condition, std::int32_t own) {
    std::int32_t first = own;
    for_each_node(condition, [&](const Expr& e) {
      const bool reads = e.op == Op::attribute || e.op == Op::timestamp;
      if (!reads || e.source == kCandidate) return;
      if (first == kCandidate) first = e.source;
      link(static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(e.source));
    });
  };
  for (std::size_t i = 0; i < rule_.states.size(); ++i) {
    for (const Expr& condition : rule_.states[i].predicate.conditions) {
      link_mentioned(condition, static_cast<std::int32_t>(i));
    }
  }
  for (const Negation& negation : rule_.negations) {
    for (const Expr& condition : negation.predicate.conditions) {
      link_mentioned(condition, kCandidate);
    }
  }
  for (const Filter& filter : rule_.filters) link_mentioned(filter.condition, kCandidate);
  for (std::uint32_t& of_state : group) of_state = find(of_state);
  return group;
}

void RuleWarnings::report_product() {
  const auto group = linked_groups();
  std::optional<std::uint32_t> first;
  for (std::uint32_t i = 1; i < rule_.states.size(); ++i) {
    if (rule_.states[i].selection != Selection::each) continue;
    if (!first) first = i;
    if (group[*first] == group[i]) continue;
    warn(named() + " combines each " + in_quotes(text_.state(*first)) + " with each " +
             in_quotes(text_.state(i)) + ", and no condition links them",
         "link them by a parameter (`attribute = $p`), or take the `first` or `last`");
    return;
  }
}

/// Windows are open at both ends, so those of a timer leave out what comes exactly at its instants.
void RuleWarnings::report_period() {
  if (!rule_.timer) return;
  const Duration period = period_of(*rule_.timer);
  const auto is_period = [&](const Span& span) {
    return span.kind == SpanKind::within && span.first == 0 && span.width == period;
  };
  bool found = std::ranges::any_of(rule_.negations, is_period, &Negation::span) ||
               std::ranges::any_of(rule_.aggregates, is_period, &Aggregate::span);
  for (std::size_t i = 1; i < rule_.states.size(); ++i) {
    found |= rule_.states[i].reference == 0 && rule_.states[i].width == period;
  }
  if (!found) return;
  const std::string window = language::duration_text(period);
  warn("the window of " + named() + " is as long as its period: an event exactly at an instant " +
           "of the timer is in no window, because windows do not include their ends",
       "write " + in_quotes("within " + window + " inclusive from Timer"));
}

void RuleWarnings::report_looking_back() {
  const auto found = taken_to_come_after(rule_, schema_);
  if (!found) return;
  const std::string state = text_.state(found->state), from = text_.state(found->from);
  warn(named() + " reads as if " + in_quotes(state) + " came after " + in_quotes(from) +
           ", but a rule looks back: it lies before",
       "for B behind A write `from B() and last A() within 5 min from B`");
}

bool is_whole_constant(const Expr& e) {
  if (e.op != Op::constant) return false;
  const auto* real = std::get_if<double>(&e.constant);
  return real == nullptr || std::floor(*real) == *real;
}

void RuleWarnings::report_float_equality() {
  std::vector<std::string> found;
  const auto look = [&](const Expr& condition, TypeId candidate) {
    for_each_node(condition, [&](const Expr& e) {
      if (e.op != Op::equal) return;
      const bool floats = e.args[0].type == ValueType::floating &&
                          e.args[1].type == ValueType::floating && !is_whole_constant(e.args[0]) &&
                          !is_whole_constant(e.args[1]);
      if (floats) found.push_back(text_.expr(e, candidate));
    });
  };
  const auto look_into = [&](const Predicate& predicate) {
    for (const Expr& condition : predicate.conditions) look(condition, predicate.type);
  };
  for (const State& state : rule_.states) look_into(state.predicate);
  for (const Negation& negation : rule_.negations) look_into(negation.predicate);
  for (const Aggregate& aggregate : rule_.aggregates) look_into(aggregate.predicate);
  for (const Filter& filter : rule_.filters) look(filter.condition, kNoType);
  if (found.empty()) return;
  found.erase(std::unique(found.begin(), found.end()), found.end());
  warn(named() + " compares floats with `=`: " + language::listing(found, "and"),
       "floats that were computed or written in decimal are seldom equal: compare with `<` and "
       "`>`, or declare the attributes int");
}

/// Whether a composite can bring about another of its type. It cannot where rules read their own
/// composites beside their terminators only: a chain of terminators that leads round is what goes
/// on by itself.
bool goes_on_by_itself(const std::vector<const Plan*>& cycle) {
  std::set<TypeId> fed;  // whose events a terminator of the cycle may have brought about
  for (const Plan* plan : cycle) fed.insert(plan->rule.type);
  for (std::size_t before = fed.size() + 1; fed.size() < before;) {
    before = fed.size();
    std::set<TypeId> next;
    for (const Plan* plan : cycle) {
      if (fed.contains(plan->rule.states[0].predicate.type)) next.insert(plan->rule.type);
    }
    fed = std::move(next);
  }
  return !fed.empty();
}

/// The added rule that takes a step of the way, if any.
const Rule* rule_on(const std::vector<TypeId>& way, std::span<const Plan* const> added) {
  for (const Plan* plan : added) {
    for (std::size_t i = 0; i < way.size(); ++i) {
      const TypeId made = way[(i + 1) % way.size()];
      if (plan->rule.type == made && plan->reach.contains(way[i])) return &plan->rule;
    }
  }
  return nullptr;
}

}  // namespace

Diagnostics rule_warnings(std::span<const Plan* const> added, const Schema& schema,
                          const language::Source& source) {
  language::Reporter reporter(source);
  for (const Plan* plan : added) RuleWarnings(plan->rule, schema, reporter).report();
  return reporter.take();
}

Diagnostics cycle_warnings(std::span<const Plan* const> added,
                           std::span<const std::vector<const Plan*>> cycles, const Schema& schema,
                           const language::Source& source) {
  language::Reporter reporter(source);
  for (const auto& cycle : cycles) {
    if (!goes_on_by_itself(cycle)) continue;
    const auto way = way_round(cycle);
    const Rule* rule = rule_on(way, added);
    if (rule == nullptr) continue;
    std::string text;
    for (const TypeId type : way) text += schema.at(type).name + " -> ";
    reporter.warning(
        rule->at,
        "the rules feed each other in a cycle: " + in_quotes(text + schema.at(way.front()).name),
        "it ends when no rule fires any more, or at the greatest depth allowed");
  }
  return reporter.take();
}

Diagnostics warnings(std::span<const Plan* const> added, std::span<const Plan* const> others,
                     const Schema& schema, const language::Source& source) {
  std::vector<const Plan*> all(others.begin(), others.end());
  all.insert(all.end(), added.begin(), added.end());
  std::vector<std::vector<const Plan*>> cycles;
  for (const Cycle& cycle : stratify(all, schema.size()).cycles) {
    cycles.push_back(plans_of(cycle, all));
  }
  Diagnostics result = rule_warnings(added, schema, source);
  std::ranges::move(cycle_warnings(added, cycles, schema, source).list,
                    std::back_inserter(result.list));
  return result;
}

}  // namespace gorgo::plan
