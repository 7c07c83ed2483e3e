#include "language/constants.hpp"

#include <utility>
#include <variant>

#include "language/build_span.hpp"

namespace gorgo::language {

void Constants::declare(const ast::Name& name, ast::Expr value, Reporter& reporter) {
  const Location at = name.at;
  const auto [known, added] = constants_.try_emplace(name.text, Constant{std::move(value), at});
  if (added) return;
  reporter.error(at,
                 "the constant " + in_quotes(name.text) + " has a value already, at " +
                     place(known->second.at),
                 "choose another name");
}

void Constants::check(const std::vector<ast::AttributeDeclaration>& attributes,
                      Reporter& reporter) const {
  for (const auto& attribute : attributes) {
    const auto constant = constants_.find(attribute.name.text);
    if (constant == constants_.end()) continue;
    reporter.error(attribute.name.at,
                   in_quotes(attribute.name.text) + " is a constant, at " +
                       place(constant->second.at) + ", and cannot be an attribute, too",
                   "rename one of them");
  }
}

void Constants::put_into(ast::RuleDefinition& rule, Reporter& reporter) const {
  if (auto* terminator = std::get_if<ast::Predicate>(&rule.terminator)) {
    put_into(*terminator, reporter);
  }
  for (ast::Clause& clause : rule.clauses) put_into(clause, reporter);
  for (ast::Assignment& assignment : rule.assignments) put_into(assignment.value, reporter);
}

void Constants::put_into(ast::Clause& clause, Reporter& reporter) const {
  if (auto* state = std::get_if<ast::StateClause>(&clause)) {
    put_into(state->predicate, reporter);
    put_into(state->span, reporter);
  } else if (auto* negation = std::get_if<ast::NegationClause>(&clause)) {
    put_into(negation->predicate, reporter);
    put_into(negation->span, reporter);
  } else if (auto* binding = std::get_if<ast::AggregateBinding>(&clause)) {
    if (binding->left) put_into(*binding->left, reporter);
    put_into(binding->aggregate->predicate, reporter);
    put_into(binding->aggregate->span, reporter);
  } else {
    put_into(std::get<ast::FilterClause>(clause).condition, reporter);
  }
}

void Constants::put_into(ast::Predicate& predicate, Reporter& reporter) const {
  for (ast::Expr& condition : predicate.conditions) put_into(condition, reporter);
}

void Constants::put_into(ast::Span& span, Reporter& reporter) const {
  if (span.constant.text.empty()) return;
  const auto constant = constants_.find(span.constant.text);
  if (constant == constants_.end()) {
    return reporter.error(
        span.constant.at,
        "there is no constant " + in_quotes(span.constant.text) + " in front of this rule",
        "a window is a time such as `5 min`, or a constant: `const w = 5 min;`");
  }
  if (const auto width = width_of(constant->second.value)) return set_width(span, *width);
  reporter.error(span.constant.at,
                 "the constant " + in_quotes(span.constant.text) + " is no time, at " +
                     place(constant->second.at),
                 "write for example `const w = 5 min;`");
}

void Constants::put_into(ast::Expr& expr, Reporter& reporter) const {
  for (ast::Expr& child : expr.children) put_into(child, reporter);
  if (expr.aggregate != nullptr) {
    put_into(expr.aggregate->predicate, reporter);
    put_into(expr.aggregate->span, reporter);
  }
  if (expr.kind != ast::ExprKind::attribute) return;
  const auto constant = constants_.find(expr.name.text);
  if (constant == constants_.end()) return;
  const Location at = expr.at;
  const auto stated = expr.stated_type;
  expr = constant->second.value;
  expr.at = at;
  expr.stated_type = stated;
}

}  // namespace gorgo::language
