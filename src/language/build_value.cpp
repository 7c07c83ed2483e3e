#include <algorithm>

#include "language/build.hpp"
#include "language/literal.hpp"

/// Values: arithmetic, literals, references.
namespace gorgo::language {

using ast::ExprKind;

AstBuilder::Tree AstBuilder::sum(Parser::SumContext* sum) {
  const auto operands = sum->product();
  Tree result = product(operands[0]);
  for (std::size_t i = 1; i < operands.size(); ++i) {
    // Children alternate between operands and operators.
    auto* op = dynamic_cast<antlr4::tree::TerminalNode*>(sum->children[2 * i - 1])->getSymbol();
    std::vector<Tree> sides;
    sides.push_back(std::move(result));
    sides.push_back(product(operands[i]));
    for (const auto& side : sides) require_value(side.expr);
    const bool plus = op->getType() == Parser::PLUS;
    result = combine(plus ? ExprKind::add : ExprKind::subtract, op, std::move(sides));
  }
  return result;
}

AstBuilder::Tree AstBuilder::product(Parser::ProductContext* product) {
  const auto operands = product->factor();
  Tree result = factor(operands[0]);
  for (std::size_t i = 1; i < operands.size(); ++i) {
    auto* op = dynamic_cast<antlr4::tree::TerminalNode*>(product->children[2 * i - 1])->getSymbol();
    std::vector<Tree> sides;
    sides.push_back(std::move(result));
    sides.push_back(factor(operands[i]));
    for (const auto& side : sides) require_value(side.expr);
    const bool times = op->getType() == Parser::STAR;
    result = combine(times ? ExprKind::multiply : ExprKind::divide, op, std::move(sides));
  }
  return result;
}

AstBuilder::Tree AstBuilder::factor(Parser::FactorContext* factor) {
  auto signs = factor->MINUS();
  auto* operand = factor->primary();
  // The sign next to a number belongs to it, because the least int could not be written otherwise.
  const bool folds = !signs.empty() && (operand->INT() != nullptr || operand->FLOAT() != nullptr);
  Tree result = primary(operand, folds);
  if (folds) {
    result.expr.at = locate(signs.back()->getSymbol());
    signs.pop_back();
  }
  if (!signs.empty()) require_value(result.expr);
  while (!signs.empty()) {
    std::vector<Tree> side;
    side.push_back(std::move(result));
    result = combine(ExprKind::negate, signs.back()->getSymbol(), std::move(side));
    signs.pop_back();
  }
  return result;
}

AstBuilder::Tree AstBuilder::primary(Parser::PrimaryContext* primary, bool negative) {
  Tree tree;
  ast::Expr& expr = tree.expr;
  antlr4::Token* first = primary->start;
  expr.at = locate(first);
  switch (first->getType()) {
    case Parser::LPAREN:
      if (primary->disjunction() != nullptr) return disjunction(primary->disjunction());
      break;
    case Parser::INT:
      if (primary->unit() != nullptr) expr.kind = ExprKind::duration;
      expr.value = duration(first, primary->unit(), negative);
      break;
    case Parser::FLOAT:
      expr.value = floating(first, negative);
      break;
    case Parser::STRING:
      expr.value = text(first);
      break;
    case Parser::TRUE:
    case Parser::FALSE:
      expr.value = first->getType() == Parser::TRUE;
      break;
    case Parser::PARAMETER:
      expr.kind = ExprKind::parameter;
      expr.name = {first->getText().substr(1), expr.at};
      if (place_ == Place::subscription) {
        reporter_.error(expr.at, "a subscription has no parameters",
                        "compare with a constant or with another attribute of the event");
      }
      break;
    default:
      return reference(primary);
  }
  return tree;
}

AstBuilder::Tree AstBuilder::reference(Parser::PrimaryContext* primary) {
  Tree tree;
  ast::Expr& expr = tree.expr;
  expr.at = locate(primary->start);
  const ast::Name word = name(primary->attributeName());
  auto* member = primary->member();
  if (member == nullptr) {
    expr.kind = ExprKind::attribute;
    expr.name = word;
  } else if (member->attributeName() != nullptr) {
    expr.kind = ExprKind::state_attribute;
    expr.qualifier = word;
    expr.name = name(member->attributeName());
    if (place_ == Place::subscription) {
      reporter_.error(expr.at, "a subscription knows no states",
                      "write the attribute alone: " + in_quotes(expr.name.text));
    }
  } else {
    expr.kind = ExprKind::aggregate;
    expr.aggregate = aggregate(primary->start, member->aggregate());
  }
  return tree;
}

Value AstBuilder::integer(antlr4::Token* digits, bool negative) {
  const auto value = parse_integer(digits->getText(), negative);
  if (!value) {
    reporter_.error(locate(digits), "the integer is out of range",
                    "the range is -9223372036854775808 to 9223372036854775807");
  }
  return value.value_or(0);
}

Value AstBuilder::duration(antlr4::Token* digits, Parser::UnitContext* unit_word, bool negative) {
  const Value count = integer(digits, negative);
  if (unit_word == nullptr) return count;
  std::int64_t nanoseconds = 0;
  if (__builtin_mul_overflow(std::get<std::int64_t>(count), unit(unit_word), &nanoseconds)) {
    reporter_.error(locate(digits), "the duration is out of range",
                    "in nanoseconds it must fit an int: 292 years at most");
  }
  return nanoseconds;
}

Value AstBuilder::floating(antlr4::Token* digits, bool negative) {
  const auto value = parse_float(digits->getText());
  if (!value) reporter_.error(locate(digits), "the number is too large for a float");
  return negative ? -value.value_or(0) : value.value_or(0);
}

Value AstBuilder::text(antlr4::Token* literal) {
  Unquoted unquoted = unquote(literal->getText());
  if (!unquoted.problem.empty()) {
    reporter_.error(reporter_.locate(literal->getStartIndex() + unquoted.problem_at, 1),
                    unquoted.problem,
                    unquoted.problem_at == 0
                        ? ""
                        : "the escapes are \\n \\r \\t \\b \\f \\0 \\\\ \\\" \\' \\/ and \\uXXXX");
  }
  return std::move(unquoted.text);
}

Duration AstBuilder::unit(Parser::UnitContext* unit) {
  const std::string word = unit->ID()->getText();
  const auto length = unit_length(word);
  if (length) return *length;
  reporter_.error(
      locate(unit->start), "unknown time unit " + in_quotes(word),
      reporter_.suggest(word, unit_names(), "the units are ns, us, ms, s, min, h and d"));
  return 1;
}

AstBuilder::Tree AstBuilder::combine(ExprKind kind, antlr4::Token* at, std::vector<Tree> operands) {
  Tree tree;
  tree.expr.kind = kind;
  tree.expr.at = locate(at);
  for (auto& operand : operands) tree.height = std::max(tree.height, operand.height + 1);
  if (tree.height > kMaxHeight) {
    // The trees above this one are too high as well and report nothing.
    if (tree.height == kMaxHeight + 1) {
      reporter_.error(
          tree.expr.at, "the expression is nested too deeply",
          "at most " + std::to_string(kMaxHeight) + " operators may stand in each other");
    }
    return {.height = tree.height};
  }
  for (auto& operand : operands) tree.expr.children.push_back(std::move(operand.expr));
  return tree;
}

void AstBuilder::require_value(const ast::Expr& expr) {
  if (expr.kind >= ExprKind::equal) {
    reporter_.error(expr.at, "a condition cannot be used as a value",
                    "combine conditions with `and`, `or` and `not`");
  }
}

Location AstBuilder::locate(const antlr4::Token* token) const {
  return reporter_.locate(token->getStartIndex(),
                          token->getStopIndex() + 1 - token->getStartIndex());
}

ast::Name AstBuilder::name(antlr4::ParserRuleContext* word) const {
  return {word->start->getText(), locate(word->start)};
}

}  // namespace gorgo::language
