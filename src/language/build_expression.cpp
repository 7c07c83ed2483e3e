#include "language/build_expression.hpp"

#include <utility>

#include "functions/catalogue.hpp"
#include "language/build_aggregate.hpp"
#include "language/call_shape.hpp"
#include "language/foreign_words.hpp"
#include "language/joint_types.hpp"
#include "language/literal.hpp"
#include "language/server_types.hpp"
#include "language/syntax.hpp"

namespace gorgo::language {
namespace {

using ast::ExprKind;

/// Whether the call stands in the brackets of `exists`, which reads like a type behind `not`.
bool is_asked_by_exists(const grammar::TeslaParser::MemberContext& member) {
  const auto* at = dynamic_cast<const antlr4::RuleContext*>(member.parent);
  for (at = dynamic_cast<const antlr4::RuleContext*>(at->parent); at != nullptr;
       at = dynamic_cast<const antlr4::RuleContext*>(at->parent)) {
    const std::size_t rule = at->getRuleIndex();
    if (rule != grammar::TeslaParser::RulePrimary && rule != grammar::TeslaParser::RulePredicate) {
      continue;
    }
    const auto* call = dynamic_cast<const antlr4::ParserRuleContext*>(at);
    if (lower_case(call->start->getText()) == "exists") return true;
  }
  return false;
}

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
  const auto lists = comparison->IN();
  if (comparators.size() + lists.size() > 1) {
    auto* second = comparators.size() > 1 ? comparators[1]->start : lists.back()->getSymbol();
    reporter_.error(tokens_.locate(second), "comparisons do not chain",
                    "combine two comparisons with `and`");
  }
  Tree result = sum(operands[0]);
  if (!comparators.empty()) {
    result = compare(comparators[0], std::move(result), sum(operands[1]));
  } else if (!lists.empty()) {
    result = one_of(lists[0]->getSymbol(), comparison->arguments(0), std::move(result));
  }
  if (const auto stated = stated_type(comparison, reporter_)) result.expr.stated_type = stated;
  return result;
}

/// `x in (a, b)` is `x = a or x = b`.
Tree ExpressionBuilder::one_of(antlr4::Token* in, Parser::ArgumentsContext* values, Tree left) {
  const Location at = tokens_.locate(in);
  require_value(left.expr, reporter_);
  std::vector<Tree> equalities;
  for (ast::Expr& value : conditions(values->conditions())) {
    require_value(value, reporter_);
    equalities.push_back(
        make_tree(ExprKind::equal, at, operands_of(Tree(left), {std::move(value)}), reporter_));
  }
  if (equalities.empty()) {
    reporter_.error(at, "`in` needs values", "write `x in (1, 2)`");
    return left;
  }
  const std::vector<Location> between(equalities.size() - 1, at);
  return make_chain(ExprKind::logical_or, between, std::move(equalities), reporter_);
}

Tree ExpressionBuilder::compare(Parser::ComparatorContext* comparator, Tree left, Tree right) {
  const ExprKind kind = kind_of(comparator);
  const Location at = tokens_.locate(comparator->start);
  require_value(left.expr, reporter_);
  require_value(right.expr, reporter_);
  if (comparator->LIKE() != nullptr || comparator->MATCHES() != nullptr) {
    return call({comparator->LIKE() != nullptr ? "like" : "matches", at},
                operands_of(std::move(left), std::move(right)));
  }
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
  if (primary->disjunction() != nullptr) {
    Tree inner = disjunction(primary->disjunction());
    inner.expr.bracketed = true;
    return inner;
  }
  if (primary->attributeName() != nullptr) return reference(primary);
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

Tree ExpressionBuilder::reference(Parser::PrimaryContext* primary) {
  ast::Expr expr{.at = tokens_.locate(primary->start)};
  const ast::Name word = tokens_.name(primary->attributeName());
  auto* member = primary->member();
  if (member == nullptr && is_server_name(word.text)) {
    // One word to the lexer, but here it is an attribute of a state that is called gorgo.
    split(word, expr);
  } else if (member == nullptr) {
    expr.kind = ExprKind::attribute;
    expr.name = word;
  } else if (is_call(primary)) {
    return call(primary, word);
  } else {
    expr.kind = ExprKind::state_attribute;
    expr.qualifier = word;
    expr.name = tokens_.name(member->attributeName());
    refuse_in_subscription(expr);
    if (place_ != Place::subscription && member->arguments() != nullptr) {
      reporter_.error(expr.at, show(expr) + " has conditions behind it, but is in no aggregate",
                      "write " + in_quotes("Avg(" + word.text + "(...)." + expr.name.text +
                                           " within ... from ...)"));
    }
  }
  return {std::move(expr)};
}

void ExpressionBuilder::split(const ast::Name& word, ast::Expr& expr) {
  const auto dot = static_cast<std::uint32_t>(word.text.find('.'));
  expr.kind = ExprKind::state_attribute;
  expr.qualifier = {word.text.substr(0, dot), word.at};
  expr.name = {word.text.substr(dot + 1), word.at};
  expr.name.at.column += dot + 1;
  refuse_in_subscription(expr);
}

void ExpressionBuilder::refuse_in_subscription(const ast::Expr& expr) {
  if (place_ != Place::subscription) return;
  reporter_.error(expr.at, "a subscription knows no states",
                  "write the attribute alone: " + in_quotes(expr.name.text));
}

/// A call of a function, or an aggregate.
Tree ExpressionBuilder::call(Parser::PrimaryContext* primary, const ast::Name& name) {
  if (const auto shape = aggregate_shape(primary)) {
    ast::Expr aggregate{.kind = ExprKind::aggregate, .at = name.at};
    aggregate.aggregate = AggregateBuilder(place_, reporter_).call(primary->start, *shape);
    return {std::move(aggregate)};
  }
  auto* member = primary->member();
  if (is_lookup(primary)) return lookup(primary, name);
  refuse_unless_function(name, *member);
  std::vector<Tree> arguments;
  if (auto* list = member->arguments()->conditions(); list != nullptr) {
    for (auto* argument : list->disjunction()) arguments.push_back(disjunction(argument));
  }
  return call(name, std::move(arguments));
}

/// `Customer(id = $c).limit`, the last value of the rows with this key.
Tree ExpressionBuilder::lookup(Parser::PrimaryContext* primary, const ast::Name& name) {
  auto* member = primary->member();
  ast::Expr expr{.kind = ExprKind::aggregate, .at = name.at};
  expr.aggregate = std::make_shared<ast::AggregateCall>();
  ast::AggregateCall& call = *expr.aggregate;
  call.function = AggregateFunction::last;
  call.at = name.at;
  call.lookup = true;
  call.predicate.type = {rows_name(name.text), name.at};
  call.predicate.conditions =
      ExpressionBuilder(Place::aggregate, reporter_).conditions(member->arguments()->conditions());
  call.attribute = tokens_.name(member->attributeName());
  if (place_ == Place::predicate || place_ == Place::aggregate || place_ == Place::subscription) {
    reporter_.error(name.at, "a table is not looked up in the brackets of a predicate",
                    "look it up in a filter or in `where`, or make its row a state: `and table " +
                        name.text + "(...)`");
  }
  return {std::move(expr)};
}

Tree ExpressionBuilder::call(const ast::Name& name, std::vector<Tree> arguments) {
  Tree result = make_tree(ExprKind::call, name.at, std::move(arguments), reporter_);
  result.expr.name = name;
  return result;
}

void ExpressionBuilder::refuse_unless_function(const ast::Name& name,
                                               Parser::MemberContext& member) {
  if (functions::find(name.text) != nullptr) {
    if (member.DOT() == nullptr && member.span() == nullptr) return;
    return reporter_.error(name.at,
                           in_quotes(name.text) + " is a function: it takes only arguments",
                           "leave out what stands behind its brackets");
  }
  if (place_ == Place::filter && member.span() != nullptr) {
    return reporter_.error(
        name.at, "expected `each`, `first`, `last` or `not` before " + in_quotes(name.text),
        "a selection says which event of the window is taken; a row is `table C(...)`");
  }
  if (aggregate_function(name.text)) {
    reporter_.error(name.at, in_quotes(name.text) + " is an aggregate: it reads events of one type",
                    "write " + in_quotes(name.text + "(Type(...).attribute within ... from ...)"));
    return;
  }
  std::string meant = hint_for_function(name.text);
  if (meant.empty() && is_asked_by_exists(member)) {
    meant = "`exists` asks for a value; an absence is written `not " + name.text +
            "() within 5 min from X`";
  }
  if (!meant.empty()) {
    return reporter_.error(name.at, "unknown function " + in_quotes(name.text), meant);
  }
  std::vector<std::string> names = functions::names();
  names.insert(names.end(), aggregate_names().begin(), aggregate_names().end());
  reporter_.error(name.at, "unknown function " + in_quotes(name.text),
                  reporter_.suggest(name.text, names,
                                    "`gorgo functions` lists them; a state begins with "
                                    "`each`, `first` or `last`"));
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
