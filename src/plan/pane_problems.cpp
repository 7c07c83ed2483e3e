#include "plan/pane_problems.hpp"

#include <algorithm>
#include <optional>
#include <string>

#include "language/names.hpp"
#include "language/reporter.hpp"
#include "language/rule_text.hpp"

namespace gorgo::plan {
namespace {

/// Why a rule cannot have panes.
struct PaneProblem {
  std::string what;  ///< follows "because"
  std::string hint;
};

/// Whether the comparison can be part of a key: two values are equal exactly if their keys are.
bool is_key(const Comparison& comparison) {
  return comparison.op == Op::equal && comparison.attribute() &&
         comparison.subject.type == comparison.operand.type &&
         comparison.subject.type != ValueType::floating;
}

std::optional<PaneProblem> problem_of(const Plan& plan, std::size_t index, const PaneCut& cut,
                                      const Schema& schema) {
  const Aggregate& aggregate = plan.rule.aggregates[index];
  const Scan& scan = plan.aggregates[index].scan;
  const std::string call = language::RuleText(plan.rule, schema).aggregate(aggregate);
  if (!is_reduction(aggregate.function)) {
    return PaneProblem{"`" + call + "` needs each of its values",
                       "panes answer `Count`, `Sum`, `Avg`, `Min` and `Max`"};
  }
  if (aggregate.newest || aggregate.among) {
    return PaneProblem{"`" + call + "` counts the events of its window",
                       "leave out the number of events"};
  }
  if (!consists_of_panes(cut, aggregate.span)) {
    const std::string period = language::duration_text(cut.width);
    return PaneProblem{
        "the window of `" + call +
            "` does not consist of whole periods of the timer with their older ends",
        "write `within " + period + " inclusive from Timer`, or a multiple of that time"};
  }
  if (!scan.residual.empty() || !std::ranges::all_of(scan.comparisons, is_key)) {
    return PaneProblem{"`" + call + "` compares events with what the rule has found",
                       "compare attributes, which are no floats, with `=` and a parameter of their "
                       "type, or with constants"};
  }
  return std::nullopt;
}

std::optional<PaneProblem> problem_of(const Plan& plan, const Schema& schema) {
  const Rule& rule = plan.rule;
  if (!rule.options.panes) return std::nullopt;
  const auto cut = cut_of(rule);
  if (!cut) {
    return PaneProblem{
        rule.timer ? "the instants of its timer are not equally far apart" : "it has no timer",
        "panes are the time between the instants of a timer of UTC, as "
        "`from Timer(every = 1 min)`"};
  }
  bool has_any = false;
  for (std::size_t i = 0; i < rule.aggregates.size(); ++i) {
    if (rule.aggregates[i].span.table) continue;
    has_any = true;
    if (auto problem = problem_of(plan, i, *cut, schema)) return problem;
  }
  if (has_any) return std::nullopt;
  return PaneProblem{"it has no aggregate", "leave out `@panes`"};
}

}  // namespace

Diagnostics problems_of_panes(std::span<const Plan* const> plans, const Schema& schema,
                              const language::Source& source) {
  language::Reporter reporter(source);
  for (const Plan* const plan : plans) {
    const auto problem = problem_of(*plan, schema);
    if (!problem) continue;
    reporter.error(plan->rule.at,
                   "rule " + language::in_quotes(plan->rule.name) +
                       " cannot have `@panes`, because " + problem->what,
                   problem->hint);
  }
  return reporter.take();
}

}  // namespace gorgo::plan
