#include "language/constants.hpp"

#include <utility>
#include <variant>

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

void Constants::put_into(ast::RuleDefinition& rule) const {
  if (constants_.empty()) return;
  if (auto* terminator = std::get_if<ast::Predicate>(&rule.terminator)) put_into(*terminator);
  for (ast::Clause& clause : rule.clauses) put_into(clause);
  for (ast::Assignment& assignment : rule.assignments) put_into(assignment.value);
}

void Constants::put_into(ast::Clause& clause) const {
  if (auto* state = std::get_if<ast::StateClause>(&clause)) {
    put_into(state->predicate);
  } else if (auto* negation = std::get_if<ast::NegationClause>(&clause)) {
    put_into(negation->predicate);
  } else if (auto* binding = std::get_if<ast::AggregateBinding>(&clause)) {
    if (binding->left) put_into(*binding->left);
    put_into(binding->aggregate->predicate);
  } else {
    put_into(std::get<ast::FilterClause>(clause).condition);
  }
}

void Constants::put_into(ast::Predicate& predicate) const {
  for (ast::Expr& condition : predicate.conditions) put_into(condition);
}

void Constants::put_into(ast::Expr& expr) const {
  for (ast::Expr& child : expr.children) put_into(child);
  if (expr.aggregate != nullptr) put_into(expr.aggregate->predicate);
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
