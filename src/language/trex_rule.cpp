#include "language/trex_rule.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>

#include "language/aggregate_names.hpp"
#include "language/syntax.hpp"

/// Declarations, patterns and conditions; expressions are in trex_expr.cpp.
namespace gorgo::language {

using ast::ExprKind;

namespace {

constexpr std::array kOfTRex = {AggregateFunction::avg, AggregateFunction::sum,
                                AggregateFunction::min, AggregateFunction::max,
                                AggregateFunction::count};

ExprKind mirrored(ExprKind kind) {
  switch (kind) {
    case ExprKind::less:
      return ExprKind::greater;
    case ExprKind::less_equal:
      return ExprKind::greater_equal;
    case ExprKind::greater:
      return ExprKind::less;
    case ExprKind::greater_equal:
      return ExprKind::less_equal;
    default:
      return kind;
  }
}

bool is_attribute(const ast::Expr& expr) {
  return expr.kind == ExprKind::attribute && expr.name.text != "timestamp";
}

/// Whether T-Rex can compare an attribute with the expression as it stands.
bool is_constant(const ast::Expr& expr) {
  if (expr.kind != ExprKind::literal) return false;
  if (const auto* integer = std::get_if<std::int64_t>(&expr.value)) return *integer >= 0;
  if (const auto* real = std::get_if<double>(&expr.value)) return *real >= 0;
  return true;
}

}  // namespace

TRexRule::TRexRule(const ast::RuleDefinition& rule, const Schema& schema, Reporter& reporter)
    : rule_(rule), schema_(schema), reporter_(reporter) {
  annotations();
  if (!rule.actions.empty()) {
    reporter.warning(rule.actions.front().kind.at, "T-Rex has no actions: `execute` is left out");
  }
  define();
  pattern();
  where();
  for (const auto& state : rule.consuming) {
    text_ += (&state == rule.consuming.data() ? "\nConsuming " : ", ") + type_name(state);
  }
  text_ += ";\n";
  type_name(rule.type);
  const auto composite = std::find(types_.begin(), types_.end(), rule.type.text);
  if (composite != types_.end()) std::rotate(composite, composite + 1, types_.end());
}

/// Those that say how a rule runs are left out; the others say what it means.
void TRexRule::annotations() {
  for (const auto& annotation : rule_.annotations) {
    if (annotation.name.text == "at_most") {
      refuse(annotation.name.at, "limits on what a rule produces", "");
    } else {
      reporter_.warning(annotation.name.at,
                        "T-Rex has no annotations: `@" + annotation.name.text + "` is left out");
    }
  }
}

void TRexRule::define() {
  text_ = "Define " + rule_.type.text + "(";
  for (const auto& attribute : rule_.attributes) {
    if (&attribute != rule_.attributes.data()) text_ += ", ";
    text_ += attribute_name(attribute.name) + ": " + std::string(to_string(attribute.type));
  }
  text_ += ")\nFrom   ";
}

void TRexRule::pattern() {
  if (rule_.every) {
    refuse(rule_.every->at, "terminators that are counted",
           "leave out `every`: each event of the type is a terminator");
  }
  if (const auto* timer = std::get_if<ast::Timer>(&rule_.terminator)) {
    text_ += refuse(timer->at, "timers", "let a publisher send an event in their place");
  } else {
    text_ += predicate(std::get<ast::Predicate>(rule_.terminator), Place::state);
  }
  for (const auto& clause : rule_.clauses) text_ += "\n       and " + this->clause(clause);
}

std::string TRexRule::clause(const ast::Clause& clause) {
  if (const auto* state = std::get_if<ast::StateClause>(&clause)) {
    if (state->table) return refuse(state->at, "tables", "");
    const std::string selected = selection(*state);
    return selected + " " + predicate(state->predicate, Place::state) + " " + span(state->span);
  }
  if (const auto* negation = std::get_if<ast::NegationClause>(&clause)) {
    return "not " + predicate(negation->predicate, Place::elsewhere) + " " + span(negation->span);
  }
  if (const auto* binding = std::get_if<ast::AggregateBinding>(&clause)) {
    return refuse(binding->at, "names for aggregates", "write the aggregate in `where`");
  }
  return refuse(std::get<ast::FilterClause>(clause).at, "filters",
                "test an attribute in the brackets of its state");
}

std::string TRexRule::selection(const ast::StateClause& state) {
  if (!state.per.empty()) return refuse(state.per[0].at, "selection per key", "");
  switch (state.selection) {
    case Selection::each:
      return "each";
    case Selection::first:
      return "first";
    case Selection::last:
      return "last";
    default:
      return refuse(state.at, "selection of several events by number",
                    "`each` takes all of the window");
  }
}

std::string TRexRule::span(const ast::Span& span) {
  constexpr Duration kMillisecond = 1'000'000;
  const std::string first = type_name(span.first);
  if (span.kind == SpanKind::between) return "between " + first + " and " + type_name(span.second);
  if (span.kind == SpanKind::after) {
    return refuse(span.at, "absence with a deadline", "");
  }
  if (span.newest) return refuse(span.at, "windows of a number of events", "");
  if (span.width % kMillisecond != 0) {
    return refuse(span.at, "windows that are not whole milliseconds", "");
  }
  return "within " + std::to_string(span.width / kMillisecond) + " from " + first;
}

void TRexRule::where() {
  for (const auto& assignment : rule_.assignments) {
    text_ += &assignment == rule_.assignments.data() ? "\nWhere  " : ", ";
    text_ += attribute_name(assignment.attribute) + " := " + expr(assignment.value, 0);
  }
  if (!rule_.order.empty()) refuse(rule_.order[0].attribute.at, "order of composites", "");
  if (rule_.limit) refuse(rule_.limit->at, "limit of composites", "");
}

std::string TRexRule::predicate(const ast::Predicate& predicate, Place place) {
  if (predicate.alias) {
    refuse(predicate.alias->at, "names for states",
           "a state has the name of its type, so no two can be of one type");
  }
  if (!predicate.any_of.empty()) {
    return refuse(predicate.type.at, "states over several types", "write a rule for each type");
  }
  return type_name(predicate.type) + "(" + conditions(predicate, place) + ")";
}

std::string TRexRule::conditions(const ast::Predicate& predicate, Place place) {
  std::string text;
  for (const ast::Expr* condition : conjuncts(predicate)) {
    if (!text.empty()) text += ", ";
    text += this->condition(*condition, predicate.type.text, place);
  }
  return text;
}

std::string TRexRule::condition(const ast::Expr& condition, const std::string& type, Place place) {
  if (is_attribute(condition)) return attribute_name(condition.name) + " = true";
  const bool binds = condition.kind == ExprKind::bind;
  if (!binds && (!is_comparison(condition.kind) || condition.kind == ExprKind::contains)) {
    return refuse(condition.at, in_quotes(spelling(condition.kind)),
                  "its conditions compare one attribute and must all hold");
  }
  const ast::Expr& left = condition.children[0];
  const ast::Expr& right = condition.children[1];
  if (is_condition(left, type) || is_condition(right, type)) {
    return refuse(condition.at, "conditions as values", "");
  }
  const bool may_bind = place == Place::state && is_attribute(left) &&
                        right.kind == ExprKind::parameter &&
                        (binds || condition.kind == ExprKind::equal);
  if (may_bind && bound_.insert(right.name.text).second) {
    return attribute_name(left.name) + " => " + parameter(right.name);
  }
  if (is_attribute(left)) return comparison(condition, left, right, condition.kind, type);
  if (is_attribute(right)) {
    return comparison(condition, right, left, mirrored(condition.kind), type);
  }
  return refuse(condition.at, "conditions without an attribute alone on one side", "");
}

bool TRexRule::is_condition(const ast::Expr& expr, const std::string& type) const {
  if (!expr.bracketed) return false;
  if (expr.kind != ExprKind::attribute && expr.kind != ExprKind::state_attribute) return false;
  const EventType* known = schema_.find(type);
  const auto index = known == nullptr ? std::nullopt : known->find(expr.name.text);
  return !index || known->attributes[*index].type == ValueType::boolean;
}

std::string TRexRule::comparison(const ast::Expr& condition, const ast::Expr& attribute,
                                 const ast::Expr& value, ExprKind kind, const std::string& type) {
  const std::string name = attribute_name(attribute.name);
  const std::string rest = " " + spelling(kind) + " " + expr(value, 0);
  if (is_constant(value)) return name + rest;
  const EventType* known = schema_.find(type);
  const auto index = known == nullptr ? std::nullopt : known->find(attribute.name.text);
  if (!index) return refuse(condition.at, "attributes of unknown types", "declare the type");
  return "[" + std::string(to_string(known->attributes[*index].type)) + "]" + name + rest;
}

std::string TRexRule::aggregate(const ast::AggregateCall& call) {
  if (call.lookup) return refuse(call.at, "tables", "");
  if (std::ranges::find(kOfTRex, call.function) == kOfTRex.end()) {
    return refuse(call.at, std::string(to_string(call.function)), "");
  }
  const std::string attribute =
      call.attribute ? attribute_name(*call.attribute) : counted_attribute(call);
  return std::string(to_string(call.function)) + "(" + type_name(call.predicate.type) + "." +
         attribute + "(" + conditions(call.predicate, Place::elsewhere) + ")) " + span(call.span);
}

/// Every event of a declared type has each of its attributes, so any of them counts the events.
std::string TRexRule::counted_attribute(const ast::AggregateCall& call) {
  const EventType* type = schema_.find(call.predicate.type.text);
  if (type == nullptr || !type->strict() || type->attributes.empty()) {
    return refuse(call.at, "COUNT of a type without declared attributes", "declare one");
  }
  return attribute_name({type->attributes[0].name, call.at});
}

std::string TRexRule::type_name(const ast::Name& name) {
  if (std::isupper(static_cast<unsigned char>(name.text[0])) == 0) {
    return refuse(name.at, "types that begin with a small letter", "");
  }
  if (std::find(types_.begin(), types_.end(), name.text) == types_.end()) {
    types_.push_back(name.text);
  }
  return name.text;
}

std::string TRexRule::attribute_name(const ast::Name& name) {
  if (std::islower(static_cast<unsigned char>(name.text[0])) == 0) {
    return refuse(name.at, "attributes that do not begin with a small letter", "");
  }
  return name.text;
}

std::string TRexRule::parameter(const ast::Name& name) { return "$" + name.text; }

std::string TRexRule::refuse(Location at, const std::string& what, std::string hint) {
  reporter_.warning(at, "T-Rex has no " + what, std::move(hint));
  expressible_ = false;
  return "";
}

}  // namespace gorgo::language
