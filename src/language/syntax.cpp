#include "language/syntax.hpp"

#include <algorithm>
#include <utility>

#include "language/aggregate_names.hpp"
#include "language/reporter.hpp"

namespace gorgo::language {
namespace {

using ast::ExprKind;

/// Walks without recursion, because the depth is what is in question.
bool deeper_than_allowed(const ast::Expr& root) {
  std::vector<std::pair<const ast::Expr*, std::size_t>> open{{&root, 1}};
  while (!open.empty()) {
    const auto [expr, depth] = open.back();
    open.pop_back();
    if (depth > kMaxExprDepth) return true;
    const bool logical = expr->kind == ExprKind::logical_and || expr->kind == ExprKind::logical_or;
    for (const auto& child : expr->children) {
      const bool same_chain = logical && child.kind == expr->kind;
      open.emplace_back(&child, same_chain ? depth : depth + 1);
    }
    if (!expr->aggregate) continue;
    for (const auto& condition : expr->aggregate->predicate.conditions) {
      open.emplace_back(&condition, depth + 1);
    }
  }
  return false;
}

std::vector<const ast::Predicate*> predicates(const ast::RuleDefinition& rule) {
  std::vector<const ast::Predicate*> list;
  if (const auto* p = std::get_if<ast::Predicate>(&rule.terminator)) list.push_back(p);
  for (const auto& clause : rule.clauses) {
    if (const auto* s = std::get_if<ast::StateClause>(&clause)) list.push_back(&s->predicate);
    if (const auto* n = std::get_if<ast::NegationClause>(&clause)) list.push_back(&n->predicate);
    if (const auto* b = std::get_if<ast::AggregateBinding>(&clause)) {
      list.push_back(&b->aggregate->predicate);
    }
  }
  return list;
}

std::string show_literal(const Value& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return "\"" + *text + "\"";
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return std::to_string(*integer);
  if (const auto* flag = std::get_if<bool>(&value)) return *flag ? "true" : "false";
  return "";
}

}  // namespace

bool is_comparison(ExprKind kind) { return kind >= ExprKind::equal && kind <= ExprKind::contains; }

bool is_arithmetic(ExprKind kind) { return kind >= ExprKind::add && kind <= ExprKind::divide; }

bool is_logical(ExprKind kind) { return kind >= ExprKind::logical_and; }

std::string spelling(ExprKind kind) {
  switch (kind) {
    case ExprKind::negate:
    case ExprKind::subtract:
      return "-";
    case ExprKind::add:
      return "+";
    case ExprKind::multiply:
      return "*";
    case ExprKind::divide:
      return "/";
    case ExprKind::equal:
      return "=";
    case ExprKind::not_equal:
      return "!=";
    case ExprKind::less:
      return "<";
    case ExprKind::less_equal:
      return "<=";
    case ExprKind::greater:
      return ">";
    case ExprKind::greater_equal:
      return ">=";
    case ExprKind::contains:
      return "contains";
    case ExprKind::bind:
      return "=>";
    case ExprKind::logical_and:
      return "and";
    case ExprKind::logical_or:
      return "or";
    case ExprKind::logical_not:
      return "not";
    default:
      return "";
  }
}

std::vector<const ast::Expr*> chain(const ast::Expr& expr) {
  std::vector<const ast::Expr*> operands;
  const bool splits = expr.kind == ExprKind::logical_and || expr.kind == ExprKind::logical_or;
  std::vector<const ast::Expr*> open{&expr};
  while (!open.empty()) {
    const ast::Expr* next = open.back();
    open.pop_back();
    if (splits && next->kind == expr.kind) {
      for (auto it = next->children.rbegin(); it != next->children.rend(); ++it) {
        open.push_back(&*it);
      }
    } else {
      operands.push_back(next);
    }
  }
  return operands;
}

std::vector<const ast::Expr*> conjuncts(const ast::Predicate& predicate) {
  std::vector<const ast::Expr*> list;
  for (const auto& condition : predicate.conditions) {
    if (condition.kind == ExprKind::logical_and) {
      const auto operands = chain(condition);
      list.insert(list.end(), operands.begin(), operands.end());
    } else {
      list.push_back(&condition);
    }
  }
  return list;
}

bool too_deep(const ast::RuleDefinition& rule, Location& where) {
  bool found = false;
  const auto check = [&](const ast::Expr& expr) {
    if (found || !deeper_than_allowed(expr)) return;
    found = true;
    where = expr.at;
  };
  for (const auto* predicate : predicates(rule)) {
    for (const auto& condition : predicate->conditions) check(condition);
  }
  for_each_outer(rule, [&](const auto& item) {
    if constexpr (std::is_same_v<std::decay_t<decltype(item)>, ast::Expr>) check(item);
  });
  return found;
}

std::string show(const ast::Expr& expr) {
  switch (expr.kind) {
    case ExprKind::attribute:
      return in_quotes(expr.name.text);
    case ExprKind::state_attribute:
      return in_quotes(expr.qualifier.text + "." + expr.name.text);
    case ExprKind::parameter:
      return in_quotes("$" + expr.name.text);
    case ExprKind::aggregate:
      return in_quotes(to_string(expr.aggregate->function));
    case ExprKind::call:
      return in_quotes(expr.name.text + "(...)");
    case ExprKind::duration:
      return "the duration";
    case ExprKind::literal: {
      const std::string text = show_literal(expr.value);
      return text.empty() || text.size() > 40 ? "the literal" : in_quotes(text);
    }
    default:
      return "the expression";
  }
}

std::optional<ValueType> own_type(AggregateFunction function) {
  switch (function) {
    case AggregateFunction::sum:
    case AggregateFunction::min:
    case AggregateFunction::max:
    case AggregateFunction::first:
    case AggregateFunction::last:
      return std::nullopt;
    case AggregateFunction::count:
    case AggregateFunction::count_distinct:
      return ValueType::integer;
    case AggregateFunction::avg:
    case AggregateFunction::variance:
    case AggregateFunction::variance_pop:
    case AggregateFunction::std_dev:
    case AggregateFunction::std_dev_pop:
    case AggregateFunction::median:
    case AggregateFunction::percentile:
      break;
  }
  return ValueType::floating;
}

bool takes_any_type(AggregateFunction function) {
  switch (function) {
    case AggregateFunction::count:
    case AggregateFunction::count_distinct:
    case AggregateFunction::first:
    case AggregateFunction::last:
      return true;
    case AggregateFunction::avg:
    case AggregateFunction::sum:
    case AggregateFunction::min:
    case AggregateFunction::max:
    case AggregateFunction::variance:
    case AggregateFunction::variance_pop:
    case AggregateFunction::std_dev:
    case AggregateFunction::std_dev_pop:
    case AggregateFunction::median:
    case AggregateFunction::percentile:
      break;
  }
  return false;
}

}  // namespace gorgo::language
