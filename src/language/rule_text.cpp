#include "language/rule_text.hpp"

#include <charconv>
#include <utility>

#include "functions/catalogue.hpp"
#include "language/aggregate_names.hpp"
#include "language/syntax.hpp"

namespace gorgo::language {
namespace {

std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    if (c == '\n') {
      result += "\\n";
    } else {
      result += c;
    }
  }
  return result + "\"";
}

std::string constant(const Value& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return quoted(*text);
  if (const auto* flag = std::get_if<bool>(&value)) return *flag ? "true" : "false";
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return std::to_string(*integer);
  if (!has_value(value)) return "no value";
  char buffer[32];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, std::get<double>(value)).ptr;
  std::string text(buffer, end);
  if (text.find_first_not_of("-0123456789") == std::string::npos) text += ".0";
  return text;
}

std::string_view name_of(Op op) {
  constexpr std::string_view names[] = {
      "constant", "attribute", "timestamp", "aggregate", "present", "call", "-",  "+",
      "-",        "*",         "/",         "to_float",  "to_int",  "=",    "!=", "<",
      "<=",       ">",         ">=",        "contains",  "and",     "or",   "not"};
  return names[static_cast<std::size_t>(op)];
}

constexpr std::pair<Duration, std::string_view> kUnitsOfTime[] = {
    {86'400'000'000'000, " d"}, {3'600'000'000'000, " h"}, {60'000'000'000, " min"},
    {1'000'000'000, " s"},      {1'000'000, " ms"},        {1'000, " us"}};

constexpr int kTightest = 7;

/// See `make_bracketed`.
bool is_bracketed(const Expr& e) { return e.op == Op::logical_and && e.args.size() == 1; }

/// How tightly an operator binds (language.md §3): `or` least.
int binding_of(Op op) {
  switch (op) {
    case Op::logical_or:
      return 1;
    case Op::logical_and:
      return 2;
    case Op::logical_not:
      return 3;
    case Op::equal:
    case Op::not_equal:
    case Op::less:
    case Op::less_equal:
    case Op::greater:
    case Op::greater_equal:
    case Op::contains:
      return 4;
    case Op::add:
    case Op::subtract:
      return 5;
    case Op::multiply:
    case Op::divide:
      return 6;
    default:
      return kTightest;
  }
}

/// `20 of all events in `, empty without a number.
std::string of_all_text(std::optional<std::uint64_t> among) {
  return among ? std::to_string(*among) + " of all events in " : "";
}

}  // namespace

std::string duration_text(Duration duration) {
  for (const auto& [length, unit] : kUnitsOfTime) {
    if (duration != 0 && duration % length == 0) {
      return std::to_string(duration / length) + std::string(unit);
    }
  }
  return std::to_string(duration) + " ns";
}

std::string length_text(Duration duration) {
  std::string text;
  const auto add = [&](Duration count, std::string_view unit) {
    if (count != 0) text += (text.empty() ? "" : " ") + std::to_string(count) + std::string(unit);
  };
  for (const auto& [length, unit] : kUnitsOfTime) {
    add(duration / length, unit);
    duration %= length;
  }
  add(duration, " ns");
  return text.empty() ? "0" : text;
}

std::string window_text(Duration width) {
  constexpr Duration kMicrosecond = 1'000;
  // Nobody means a nanosecond more than a round time, except who includes its end.
  const bool inclusive = width % kMicrosecond == 1 && width > 1;
  return inclusive ? duration_text(width - 1) + " inclusive" : duration_text(width);
}

std::string selection_text(const State& state) {
  if (state.table) return state.per.empty() ? "the row" : "each row";
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

std::string RuleText::type(TypeId id) const {
  const bool named = schema_.knows(id) && !schema_.at(id).name.empty();
  return named ? schema_.at(id).name : "Timer";
}

std::string RuleText::attribute(TypeId type, std::uint32_t index) const {
  return schema_.at(type).attributes[index].name;
}

std::string RuleText::source(const Expr& e, TypeId candidate) const {
  const bool own = e.source == kCandidate;
  const std::string owner = own ? "" : state(static_cast<std::uint32_t>(e.source)) + ".";
  if (e.op == Op::timestamp) return owner + "timestamp";
  const TypeId type =
      own ? candidate : rule_.states[static_cast<std::size_t>(e.source)].predicate.type;
  return owner + attribute(type, e.index);
}

std::string RuleText::operand(const Expr& e, TypeId candidate, int binding_above) const {
  const std::string text = expr(e, candidate);
  return binding_of(e.op) < binding_above && !is_bracketed(e) ? "(" + text + ")" : text;
}

std::string RuleText::operation(const Expr& e, TypeId candidate) const {
  const std::string name(name_of(e.op));
  const int binding = binding_of(e.op);
  if (e.args.size() == 1) {
    const std::string space = e.op == Op::logical_not ? " " : "";
    return name + space + operand(e.args[0], candidate, kTightest);
  }
  // Comparisons do not chain; on the right of `-` and `/` the grouping matters.
  const bool comparison = binding == binding_of(Op::equal);
  const bool logic = binding < binding_of(Op::logical_not);
  return operand(e.args[0], candidate, comparison ? binding + 1 : binding) + " " + name + " " +
         operand(e.args[1], candidate, logic ? binding : binding + 1);
}

std::string RuleText::expr(const Expr& e, TypeId candidate) const {
  switch (e.op) {
    case Op::constant:
      return constant(e.constant);
    case Op::attribute:
    case Op::timestamp:
      return source(e, candidate);
    case Op::aggregate:
      return "$" + std::to_string(e.index);
    case Op::present:
      return "has " + source(e, candidate);
    case Op::to_float:
    case Op::to_int:
      return std::string(name_of(e.op)) + "(" + expr(e.args[0], candidate) + ")";
    case Op::call:
      return call(e, candidate);
    case Op::logical_and:
      if (is_bracketed(e)) return "(" + expr(e.args[0], candidate) + ")";
      return operation(e, candidate);
    default:
      return operation(e, candidate);
  }
}

std::string RuleText::call(const Expr& e, TypeId candidate) const {
  const bool between = e.function == Function::like || e.function == Function::matches;
  const std::string name(functions::signature_of(e.function).name);
  if (between) {
    return operand(e.args[0], candidate, kTightest) + " " + name + " " + expr(e.args[1], candidate);
  }
  std::string text = name + "(";
  for (const Expr& argument : e.args) {
    text += (&argument == e.args.data() ? "" : ", ") + expr(argument, candidate);
  }
  return text + ")";
}

std::string RuleText::predicate(const Predicate& p) const {
  std::string text = type(p.type) + "(";
  for (const Expr& condition : p.conditions) {
    text += (&condition == p.conditions.data() ? "" : ", ") + expr(condition, p.type);
  }
  return text + ")";
}

std::string RuleText::window(const State& s) const {
  if (s.table) return "before " + state(s.reference);
  return "within " + of_all_text(s.among) + window_text(s.width) + " from " + state(s.reference);
}

std::string RuleText::keys(const State& s) const { return keys(s.predicate.type, s.per); }

std::string RuleText::keys(TypeId type, const std::vector<std::uint32_t>& per) const {
  std::string text;
  for (const std::uint32_t index : per) {
    text += (text.empty() ? "per " : ", ") + attribute(type, index);
  }
  return text;
}

std::string RuleText::every() const {
  if (!rule_.every) return "";
  const std::string keys = this->keys(rule_.states[0].predicate.type, rule_.every->per);
  return "every " + std::to_string(rule_.every->events) + (keys.empty() ? "" : " " + keys);
}

std::string RuleText::terminator() const {
  if (rule_.timer) return timer();
  const Predicate& predicate = rule_.states[0].predicate;
  if (!rule_.every) return this->predicate(predicate);
  const std::string keys = this->keys(predicate.type, rule_.every->per);
  return "every " + std::to_string(rule_.every->events) + " " + this->predicate(predicate) +
         (keys.empty() ? "" : " " + keys);
}

std::string RuleText::order() const {
  std::string text;
  for (const OrderKey& key : rule_.order) {
    text += (text.empty() ? "" : ", ") + attribute(rule_.type, key.attribute) +
            (key.descending ? " desc" : "");
  }
  return text;
}

std::string RuleText::at_most() const {
  if (!rule_.at_most) return "";
  const OutputLimit& limit = *rule_.at_most;
  std::string text = std::to_string(limit.composites) + " per " + duration_text(limit.per);
  for (const std::uint32_t attribute : limit.by) {
    text +=
        (attribute == limit.by.front() ? " by " : ", ") + this->attribute(rule_.type, attribute);
  }
  return text;
}

std::string RuleText::span(const Span& s) const {
  if (s.kind == SpanKind::between) return "between " + state(s.first) + " and " + state(s.second);
  if (s.kind == SpanKind::after)
    return "within " + duration_text(s.width) + " after " + state(s.first);
  return "within " + window_text(s.width) + " from " + state(s.first);
}

std::string RuleText::aggregate(const Aggregate& a) const {
  if (a.span.table) {
    const std::string row =
        predicate(a.predicate) + "." + attribute(a.predicate.type, *a.attribute);
    return row.substr(std::string_view("table ").size());
  }
  std::string text(to_string(a.function));
  text += "(" + predicate(a.predicate);
  if (a.attribute) text += "." + attribute(a.predicate.type, *a.attribute);
  std::string window = span(a.span);
  if (a.newest || a.among) {
    const std::string number =
        a.newest ? std::to_string(*a.newest) + " events in " : of_all_text(a.among);
    window.insert(std::string_view("within ").size(), number);
  }
  text += " " + window;
  if (a.function == AggregateFunction::percentile) text += ", " + constant(a.percent);
  return text + ")";
}

std::string RuleText::timer() const {
  std::string text;
  if (rule_.timer->every) text = "every = " + duration_text(*rule_.timer->every);
  const auto field = [&](std::string_view name, const std::optional<std::int32_t>& value) {
    if (!value) return;
    text += (text.empty() ? "" : ", ") + std::string(name) + " = " + std::to_string(*value);
  };
  field("hour", rule_.timer->hour);
  field("minute", rule_.timer->minute);
  field("second", rule_.timer->second);
  if (!rule_.timer->zone.empty()) text += ", zone = " + quoted(rule_.timer->zone);
  return "Timer(" + text + ")";
}

}  // namespace gorgo::language
