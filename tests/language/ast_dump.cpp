#include "ast_dump.hpp"

#include <type_traits>

#include "language/aggregate_names.hpp"
#include "language/literal.hpp"
#include "language/syntax.hpp"

namespace gorgo::language {
// One overload set: an unnamed namespace would hide the functions of the header.

using ast::ExprKind;

static std::string dump(const Value& value) {
  return std::visit(
      [](const auto& v) -> std::string {
        using T = std::decay_t<decltype(v)>;
        if constexpr (std::is_same_v<T, std::monostate>) return "none";
        if constexpr (std::is_same_v<T, bool>) return v ? "true" : "false";
        if constexpr (std::is_same_v<T, std::int64_t>) return std::to_string(v);
        if constexpr (std::is_same_v<T, double>) return std::to_string(v) + "f";
        if constexpr (std::is_same_v<T, std::string>) return "'" + v + "'";
      },
      value);
}

static std::string dump(const ast::Span& span) {
  if (span.kind == SpanKind::between) {
    return " between " + span.first.text + " and " + span.second.text;
  }
  const std::string of = span.of_all ? " of all events in " : " events in ";
  const std::string newest = span.newest ? std::to_string(*span.newest) + of : "";
  return " within " + newest + std::to_string(span.width) + "ns " +
         (span.kind == SpanKind::within ? "from " : "after ") + span.first.text;
}

static std::string dump(const ast::AggregateCall& call) {
  if (call.lookup) return dump(call.predicate) + "." + call.attribute->text;
  std::string text = lower_case(to_string(call.function)) + "(";
  text += dump(call.predicate);
  if (call.attribute) text += "." + call.attribute->text;
  return text + dump(call.span) + ")";
}

static std::string dump_atom(const ast::Expr& expr) {
  switch (expr.kind) {
    case ExprKind::duration:
      return dump(expr.value) + "ns";
    case ExprKind::attribute:
      return expr.name.text;
    case ExprKind::state_attribute:
      return expr.qualifier.text + "." + expr.name.text;
    case ExprKind::parameter:
      return "$" + expr.name.text;
    case ExprKind::aggregate:
      return dump(*expr.aggregate);
    default:
      return dump(expr.value);
  }
}

static std::string dump(const std::vector<ast::AttributeDeclaration>& attributes) {
  std::string text = "(";
  for (const auto& attribute : attributes) {
    if (text.size() > 1) text += ", ";
    text += attribute.name.text + ": " + std::string(gorgo::to_string(attribute.type));
  }
  return text + ")";
}

static std::string dump(const ast::StateClause& state) {
  static constexpr const char* kNames[] = {"each", "first", "last", "first", "last"};
  std::string text = "and ";
  if (state.table) return text + "table " + dump(state.predicate);
  if (state.selection == Selection::k_first || state.selection == Selection::k_last) {
    text += std::to_string(state.k) + "-";
  }
  text += kNames[static_cast<int>(state.selection)];
  text += " " + dump(state.predicate);
  for (const auto& key : state.per) text += " per " + key.name.text;
  return text + dump(state.span);
}

static std::string dump(const ast::NegationClause& negation) {
  return "and not " + dump(negation.predicate) + dump(negation.span);
}

static std::string dump(const ast::AggregateBinding& binding) {
  std::string text = "and ";
  if (binding.left) text += dump(*binding.left) + " " + spelling(binding.comparison) + " ";
  return text + "$" + binding.parameter.text + " = " + dump(*binding.aggregate);
}

static std::string dump(const ast::FilterClause& filter) { return "and " + dump(filter.condition); }

static std::string dump(const ast::Timer& timer) {
  std::string text = "Timer";
  if (timer.every) text += " every " + std::to_string(*timer.every) + "ns";
  if (timer.hour) text += " hour " + std::to_string(*timer.hour);
  if (timer.minute) text += " minute " + std::to_string(*timer.minute);
  if (timer.second) text += " second " + std::to_string(*timer.second);
  return text;
}

static std::string dump(const ast::Annotation& annotation) {
  std::string text = "@" + annotation.name.text + "(";
  for (const auto& [name, value, is_time, is_word, value_at] : annotation.arguments) {
    if (text.back() != '(') text += ", ";
    if (!name.text.empty()) text += name.text + " = ";
    text += dump(value) + (is_time ? "ns" : is_word ? " as a word" : "");
  }
  return text + ")\n";
}

std::string dump(const ast::Expr& expr) {
  std::string text;
  if (expr.stated_type) text = "[" + std::string(gorgo::to_string(*expr.stated_type)) + "]";
  if (expr.children.empty()) return text + dump_atom(expr);
  text += "(" + spelling(expr.kind);
  for (const auto& child : expr.children) text += " " + dump(child);
  return text + ")";
}

std::string dump(const ast::Predicate& predicate) {
  std::string text = predicate.type.text + "(";
  for (const auto& condition : predicate.conditions) {
    if (&condition != &predicate.conditions.front()) text += ", ";
    text += dump(condition);
  }
  text += ")";
  if (predicate.alias) text += " as " + predicate.alias->text;
  return text;
}

std::string dump(const ast::RuleDefinition& rule) {
  std::string text;
  for (const auto& annotation : rule.annotations) text += dump(annotation);
  if (rule.name) text += "rule " + rule.name->text + ":\n";
  for (const auto& number : rule.numbers) {
    text += "assign " + std::to_string(number.number) + " => " + number.type.text + "\n";
  }
  text += "define " + rule.type.text + dump(rule.attributes) + "\nfrom ";
  if (rule.every) text += "every " + std::to_string(rule.every->events) + " ";
  text += std::visit([](const auto& terminator) { return dump(terminator); }, rule.terminator);
  if (rule.every) {
    for (const auto& key : rule.every->per) text += " per " + key.name.text;
  }
  for (const auto& clause : rule.clauses) {
    text += "\n" + std::visit([](const auto& c) { return dump(c); }, clause);
  }
  for (const auto& assignment : rule.assignments) {
    text += "\nwhere " + assignment.attribute.text + " = " + dump(assignment.value);
  }
  for (const auto& key : rule.order) {
    text += "\norder by " + key.attribute.text + (key.descending ? " desc" : "");
  }
  if (rule.limit) text += "\nlimit " + std::to_string(rule.limit->composites);
  for (const auto& state : rule.consuming) text += "\nconsuming " + state.text;
  for (const auto& action : rule.actions) {
    text += "\nexecute " + action.kind.text + " " + action.target.text;
  }
  return text + "\n";
}

std::string dump(const ast::EventDeclaration& declaration) {
  const std::string kind = declaration.table ? "table " : "event ";
  std::string keys;
  for (const auto& attribute : declaration.attributes) {
    if (attribute.is_key) keys += " key " + attribute.name.text;
  }
  return kind + declaration.name.text + dump(declaration.attributes) + keys + "\n";
}

std::string dump(const ast::File& file) {
  std::string text;
  for (const auto& item : file.items) {
    text += std::visit([](const auto& i) { return dump(i); }, item);
  }
  return text;
}

}  // namespace gorgo::language
