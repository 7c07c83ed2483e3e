#include "language/build_expression.hpp"

#include <utility>

#include "language/build_aggregate.hpp"

namespace gorgo::language {
namespace {

using ast::ExprKind;

/// The places of operators between operands.
std::vector<Location> places(const std::vector<antlr4::tree::TerminalNode*>& operators,
                             const TokenReader& tokens) {
  std::vector<Location> list;
  list.reserve(operators.size());
  for (auto* op : operators) list.push_back(tokens.locate(op->getSymbol()));
  return list;
}

/// The operator before an operand. Children alternate between operands and operators.
antlr4::Token* operator_before(std::size_t operand, antlr4::ParserRuleContext* chain) {
  return dynamic_cast<antlr4::tree::TerminalNode*>(chain->children[2 * operand - 1])->getSymbol();
}

std::vector<Tree> operands_of(Tree&& first) {
  std::vector<Tree> operands;
  operands.push_back(std::move(first));
  return operands;
}

std::vector<Tree> operands_of(Tree&& first, Tree&& second) {
  std::vector<Tree> operands = operands_of(std::move(first));
  operands.push_back(std::move(second));
  return operands;
}

}  // namespace

std::vector<ast::Expr> ExpressionBuilder::conditions(Parser::ConditionsContext* list) {
  std::vector<ast::Expr> result;
  if (list == nullptr) return result;
  for (auto* condition : list->disjunction()) {
    result.push_back(disjunction(condition).expr);
  }
  return result;
}

Tree ExpressionBuilder::disjunction(Parser::DisjunctionContext* disjunction) {
  std::vector<Tree> operands;
  for (auto* operand : disjunction->conjunction()) operands.push_back(conjunction(operand));
  return make_chain(ExprKind::logical_or, places(disjunction->OR(), tokens_), std::move(operands),
                    reporter_);
}

Tree ExpressionBuilder::conjunction(Parser::ConjunctionContext* conjunction) {
  std::vector<Tree> operands;
  for (auto* operand : conjunction->inversion()) operands.push_back(inversion(operand));
  return make_chain(ExprKind::logical_and, places(conjunction->AND(), tokens_), std::move(operands),
                    reporter_);
}

Tree ExpressionBuilder::inversion(Parser::InversionContext* inversion) {
  Tree result = comparison(inversion->comparison());
  auto negations = inversion->NOT();
  while (!negations.empty()) {
    result = make_tree(ExprKind::logical_not, tokens_.locate(negations.back()->getSymbol()),
                       operands_of(std::move(result)), reporter_);
    negations.pop_back();
  }
  return result;
}

Tree ExpressionBuilder::comparison(Parser::ComparisonContext* comparison) {
  const auto operands = comparison->sum();
  const auto comparators = comparison->comparator();
  if (comparators.size() > 1) {
    reporter_.error(tokens_.locate(comparators[1]->start), "comparisons do not chain",
                    "combine two comparisons with `and`");
  }
  Tree result = sum(operands[0]);
  if (!comparators.empty()) {
    result = compare(comparators[0], std::move(result), sum(operands[1]));
  }
  if (const auto stated = stated_type(comparison, reporter_)) result.expr.stated_type = stated;
  return result;
}

Tree ExpressionBuilder::compare(Parser::ComparatorContext* comparator, Tree left, Tree right) {
  const ExprKind kind = kind_of(comparator);
  const Location at = tokens_.locate(comparator->start);
  require_value(left.expr, reporter_);
  require_value(right.expr, reporter_);
  if (kind == ExprKind::bind) {
    const bool binds =
        left.expr.kind == ExprKind::attribute && right.expr.kind == ExprKind::parameter;
    if (!binds) {
      reporter_.error(at, "`=>` binds an attribute to a parameter",
                      "write `attribute => $parameter`, or `>=` to compare");
    } else if (place_ == Place::filter || place_ == Place::where) {
      reporter_.error(at, "`=>` stands only in the brackets of a state");
    }
  }
  return make_tree(kind, at, operands_of(std::move(left), std::move(right)), reporter_);
}

Tree ExpressionBuilder::sum(Parser::SumContext* sum) {
  const auto operands = sum->product();
  Tree result = product(operands[0]);
  for (std::size_t i = 1; i < operands.size(); ++i) {
    auto* op = operator_before(i, sum);
    const bool plus = op->getType() == Parser::PLUS;
    result = arithmetic(plus ? ExprKind::add : ExprKind::subtract, op, std::move(result),
                        product(operands[i]));
  }
  return result;
}

Tree ExpressionBuilder::product(Parser::ProductContext* product) {
  const auto operands = product->factor();
  Tree result = factor(operands[0]);
  for (std::size_t i = 1; i < operands.size(); ++i) {
    auto* op = operator_before(i, product);
    const bool times = op->getType() == Parser::STAR;
    result = arithmetic(times ? ExprKind::multiply : ExprKind::divide, op, std::move(result),
                        factor(operands[i]));
  }
  return result;
}

Tree ExpressionBuilder::arithmetic(ExprKind kind, antlr4::Token* op, Tree left, Tree right) {
  require_value(left.expr, reporter_);
  require_value(right.expr, reporter_);
  return make_tree(kind, tokens_.locate(op), operands_of(std::move(left), std::move(right)),
                   reporter_);
}

Tree ExpressionBuilder::factor(Parser::FactorContext* factor) {
  auto signs = factor->MINUS();
  auto* operand = factor->primary();
  // The sign next to a number belongs to it, because the least int could not be written otherwise.
  const bool folds = !signs.empty() && (operand->INT() != nullptr || operand->FLOAT() != nullptr);
  Tree result = primary(operand, folds);
  if (folds) {
    result.expr.at = tokens_.locate(signs.back()->getSymbol());
    signs.pop_back();
  }
  if (!signs.empty()) require_value(result.expr, reporter_);
  while (!signs.empty()) {
    result = make_tree(ExprKind::negate, tokens_.locate(signs.back()->getSymbol()),
                       operands_of(std::move(result)), reporter_);
    signs.pop_back();
  }
  return result;
}

Tree ExpressionBuilder::primary(Parser::PrimaryContext* primary, bool negative) {
  if (primary->disjunction() != nullptr) return disjunction(primary->disjunction());
  if (primary->attributeName() != nullptr) return {reference(primary)};
  antlr4::Token* first = primary->start;
  ast::Expr expr{.at = tokens_.locate(first)};
  switch (first->getType()) {
    case Parser::INT:
      if (primary->unit() == nullptr) {
        expr.value = tokens_.integer(first, negative);
      } else {
        expr.kind = ExprKind::duration;
        expr.value = tokens_.duration(first, primary->unit(), negative);
      }
      break;
    case Parser::FLOAT:
      expr.value = tokens_.floating(first, negative);
      break;
    case Parser::STRING:
      expr.value = tokens_.text(first);
      break;
    case Parser::PARAMETER:
      parameter(first, expr);
      break;
    default:
      expr.value = first->getType() == Parser::TRUE;
      break;
  }
  return {std::move(expr)};
}

void ExpressionBuilder::parameter(antlr4::Token* word, ast::Expr& expr) {
  expr.kind = ExprKind::parameter;
  expr.name = {word->getText().substr(1), expr.at};
  if (place_ != Place::subscription) return;
  reporter_.error(expr.at, "a subscription has no parameters",
                  "compare with a constant or with another attribute of the event");
}

ast::Expr ExpressionBuilder::reference(Parser::PrimaryContext* primary) {
  ast::Expr expr{.at = tokens_.locate(primary->start)};
  const ast::Name word = tokens_.name(primary->attributeName());
  auto* member = primary->member();
  if (member == nullptr) {
    expr.kind = ExprKind::attribute;
    expr.name = word;
  } else if (member->attributeName() != nullptr) {
    expr.kind = ExprKind::state_attribute;
    expr.qualifier = word;
    expr.name = tokens_.name(member->attributeName());
    if (place_ == Place::subscription) {
      reporter_.error(expr.at, "a subscription knows no states",
                      "write the attribute alone: " + in_quotes(expr.name.text));
    }
  } else {
    expr.kind = ExprKind::aggregate;
    expr.aggregate = AggregateBuilder(place_, reporter_).call(primary->start, member->aggregate());
  }
  return expr;
}

ast::ExprKind kind_of(grammar::TeslaParser::ComparatorContext* comparator) {
  using Parser = grammar::TeslaParser;
  switch (comparator->start->getType()) {
    case Parser::EQUAL:
      return ExprKind::equal;
    case Parser::NOT_EQUAL:
      return ExprKind::not_equal;
    case Parser::LESS:
      return ExprKind::less;
    case Parser::LESS_EQUAL:
      return ExprKind::less_equal;
    case Parser::GREATER:
      return ExprKind::greater;
    case Parser::GREATER_EQUAL:
      return ExprKind::greater_equal;
    case Parser::CONTAINS:
      return ExprKind::contains;
    default:
      return ExprKind::bind;
  }
}

std::optional<ValueType> stated_type(grammar::TeslaParser::ComparisonContext* comparison,
                                     Reporter& reporter) {
  auto* stated = comparison->statedType();
  if (stated == nullptr) return std::nullopt;
  return TokenReader(reporter).value_type(stated->valueType());
}

}  // namespace gorgo::language
