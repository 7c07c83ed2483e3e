#include "language/describe.hpp"

#include <charconv>
#include <string_view>

namespace gorgo::language {
namespace {

/// Writes one rule line by line.
class Describer {
 public:
  Describer(const Rule& rule, const Schema& schema) : rule_(rule), schema_(schema) {}

  std::string rule();

 private:
  /// `candidate` is the type of the event that the expression is tested on.
  std::string expr(const Expr& e, TypeId candidate) const;
  void line(const std::string& text) { text_ += text + "\n"; }
  void options();
  void pattern();
  std::string attribute(const Expr& e, TypeId candidate) const;
  std::string predicate(const Predicate& p) const;
  std::string window(std::uint32_t reference, Duration width) const;
  std::string span(const Span& s) const;
  std::string state(std::uint32_t index) const { return rule_.states[index].name; }
  std::string type(TypeId id) const { return id == kNoType ? "Timer" : schema_.at(id).name; }
  std::string aggregate(const Aggregate& a) const;
  std::string timer() const;

  const Rule& rule_;
  const Schema& schema_;
  std::string text_;
};

std::string constant(const Value& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return "\"" + *text + "\"";
  if (const auto* flag = std::get_if<bool>(&value)) return *flag ? "true" : "false";
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return std::to_string(*integer);
  if (!has_value(value)) return "nothing";
  char buffer[32];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, std::get<double>(value)).ptr;
  std::string text(buffer, end);
  if (text.find_first_not_of("-0123456789") == std::string::npos) text += ".0";
  return text;
}

std::string_view name_of(Op op) {
  constexpr std::string_view names[] = {
      "constant", "attribute", "timestamp", "aggregate", "present", "-",  "+", "-",
      "*",        "/",         "to_float",  "to_int",    "=",       "!=", "<", "<=",
      ">",        ">=",        "contains",  "and",       "or",      "not"};
  return names[static_cast<std::size_t>(op)];
}

std::string selection(const State& state) {
  switch (state.selection) {
    case Selection::each:
      return "each";
    case Selection::first:
      return "first";
    case Selection::last:
      return "last";
    case Selection::k_first:
      return std::to_string(state.k) + "-first";
    case Selection::k_last:
      return std::to_string(state.k) + "-last";
  }
  return "";
}

std::string Describer::attribute(const Expr& e, TypeId candidate) const {
  const TypeId id = e.source == kCandidate ? candidate : rule_.states[e.source].predicate.type;
  const std::string owner = e.source == kCandidate ? "" : state(e.source) + ".";
  if (e.op == Op::timestamp) return owner + "timestamp";
  return owner +
         (id == kNoType ? "#" + std::to_string(e.index) : schema_.at(id).attributes[e.index].name);
}

std::string Describer::expr(const Expr& e, TypeId candidate) const {
  switch (e.op) {
    case Op::constant:
      return constant(e.constant);
    case Op::attribute:
    case Op::timestamp:
      return attribute(e, candidate);
    case Op::aggregate:
      return "$" + std::to_string(e.index);
    case Op::present:
      return "has " + attribute(e, candidate);
    default:
      break;
  }
  const std::string name(name_of(e.op));
  if (e.args.size() == 1) return name + "(" + expr(e.args[0], candidate) + ")";
  std::string text = "(";
  for (std::size_t i = 0; i < e.args.size(); ++i) {
    text += (i > 0 ? " " + name + " " : "") + expr(e.args[i], candidate);
  }
  return text + ")";
}

std::string Describer::predicate(const Predicate& p) const {
  std::string text = type(p.type) + "(";
  for (const Expr& condition : p.conditions) {
    text += (text.back() == '(' ? "" : ", ") + expr(condition, p.type);
  }
  return text + ")";
}

std::string Describer::window(std::uint32_t reference, Duration width) const {
  return " within " + std::to_string(width) + " ns from " + state(reference);
}

std::string Describer::span(const Span& s) const {
  if (s.kind == SpanKind::within) return window(s.first, s.width);
  if (s.kind == SpanKind::between) return " between " + state(s.first) + " and " + state(s.second);
  return " within " + std::to_string(s.width) + " ns after " + state(s.first);
}

std::string Describer::aggregate(const Aggregate& a) const {
  constexpr std::string_view names[] = {"AVG", "SUM", "MIN", "MAX", "COUNT"};
  std::string text(names[static_cast<std::size_t>(a.function)]);
  text += "(" + predicate(a.predicate);
  if (a.attribute) text += "." + schema_.at(a.predicate.type).attributes[*a.attribute].name;
  return text + span(a.span) + "): " + std::string(to_string(a.type));
}

std::string Describer::timer() const {
  std::string text = "timer";
  if (rule_.timer->every) text += " every " + std::to_string(*rule_.timer->every) + " ns";
  const auto field = [&](std::string_view name, const std::optional<std::int32_t>& value) {
    if (value) text += " " + std::string(name) + " " + std::to_string(*value);
  };
  field("hour", rule_.timer->hour);
  field("minute", rule_.timer->minute);
  field("second", rule_.timer->second);
  return text;
}

void Describer::options() {
  if (!rule_.options.engine.empty()) line("engine " + rule_.options.engine);
  if (rule_.options.max_sequences != RuleOptions{}.max_sequences) {
    line("max_sequences " + std::to_string(rule_.options.max_sequences));
  }
  if (rule_.timer) line(timer());
}

void Describer::pattern() {
  for (std::size_t i = 0; i < rule_.states.size(); ++i) {
    const State& s = rule_.states[i];
    std::string text = "state " + std::to_string(i) + ": ";
    if (i > 0) text += selection(s) + " ";
    text += predicate(s.predicate) + " as " + s.name;
    if (i > 0) text += window(s.reference, s.width);
    line(text);
  }
  for (const Negation& n : rule_.negations) {
    line("not " + predicate(n.predicate) + span(n.span) + ", tested after state " +
         std::to_string(n.completed_at));
  }
  for (std::size_t i = 0; i < rule_.aggregates.size(); ++i) {
    line("$" + std::to_string(i) + " = " + aggregate(rule_.aggregates[i]));
  }
  for (const std::uint32_t index : rule_.required) line("required $" + std::to_string(index));
  for (const Filter& filter : rule_.filters) line("filter " + expr(filter.condition, kNoType));
}

std::string Describer::rule() {
  line(declaration_of(schema_.at(rule_.type)));
  options();
  pattern();
  for (std::size_t i = 0; i < rule_.assignments.size(); ++i) {
    line(schema_.at(rule_.type).attributes[i].name + " := " + expr(rule_.assignments[i], kNoType));
  }
  for (const std::uint32_t index : rule_.consuming) line("consuming " + state(index));
  return std::move(text_);
}

}  // namespace

std::string describe(const Rule& rule, const Schema& schema) {
  return Describer(rule, schema).rule();
}

}  // namespace gorgo::language
