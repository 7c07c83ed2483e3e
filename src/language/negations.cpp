#include "language/negations.hpp"

#include <algorithm>
#include <string>

#include "language/syntax.hpp"

namespace gorgo::language {
namespace {

/// The latest state that an expression mentions.
std::uint32_t latest_state(const Expr& expr) {
  std::uint32_t latest = expr.source > 0 ? static_cast<std::uint32_t>(expr.source) : 0;
  for (const Expr& arg : expr.args) latest = std::max(latest, latest_state(arg));
  return latest;
}

std::uint32_t completed_at(const Negation& negation) {
  std::uint32_t latest = negation.span.first;
  if (negation.span.kind == SpanKind::between) latest = std::max(latest, negation.span.second);
  for (const Expr& condition : negation.predicate.conditions) {
    latest = std::max(latest, latest_state(condition));
  }
  return latest;
}

}  // namespace

Negation NegationBinder::bind(const ast::NegationClause& clause, std::uint32_t earlier) {
  Negation negation;
  negation.predicate = predicates_.bind_nameless(clause.predicate, Context::Kind::negation);
  negation.span = windows_.bind(clause.span, earlier);
  if (clause.span.newest) {
    reporter_.error(clause.span.at, "the window of an absence is a time",
                    "that the last events are of some kind is a filter: "
                    "`0 = Count(P() within 20 events in 1 d from X)`");
  }
  if (clause.span.kind == SpanKind::after && negation.span.first != 0) {
    reporter_.error(clause.span.first.at, std::string(kForwardLooking),
                    "write `after " + scope_.states()[0].name.text +
                        "`, or look backward with `within ... from` or `between ... and`");
  }
  negation.completed_at = completed_at(negation);
  return negation;
}

}  // namespace gorgo::language
