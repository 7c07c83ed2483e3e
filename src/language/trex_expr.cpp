#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>

#include "language/syntax.hpp"
#include "language/trex_rule.hpp"

/// Values as T-Rex writes them: no negative numbers, 32 bits.
namespace gorgo::language {

using ast::ExprKind;

namespace {

constexpr int kSum = 1, kProduct = 2;

}  // namespace

std::string TRexRule::expr(const ast::Expr& e, int binding_above) {
  switch (e.kind) {
    case ExprKind::literal:
    case ExprKind::duration:
      return literal(e);
    case ExprKind::parameter:
      return parameter(e.name);
    case ExprKind::state_attribute:
      if (e.name.text == "timestamp") return refuse(e.at, "`timestamp`", "");
      if (is_condition(e, e.qualifier.text)) return refuse(e.at, "conditions as values", "");
      return type_name(e.qualifier) + "." + attribute_name(e.name);
    case ExprKind::attribute:
      return refuse(e.at, "comparisons of two attributes of one event", "");
    case ExprKind::aggregate:
      return aggregate(*e.aggregate);
    case ExprKind::call:
      return refuse(e.at, "functions", "");
    default:
      if (e.kind >= ExprKind::equal) return refuse(e.at, "conditions as values", "");
      return operation(e, binding_above);
  }
}

std::string TRexRule::operation(const ast::Expr& e, int binding_above) {
  const bool product = e.kind == ExprKind::multiply || e.kind == ExprKind::divide;
  const int binding = product ? kProduct : kSum;
  const bool negates = e.kind == ExprKind::negate;
  const std::string left = negates ? "0" : expr(e.children[0], binding);
  const std::string right = expr(e.children.back(), binding + 1);
  const std::string text = left + " " + spelling(e.kind) + " " + right;
  return binding < binding_above ? "(" + text + ")" : text;
}

std::string TRexRule::literal(const ast::Expr& e) {
  if (const auto* flag = std::get_if<bool>(&e.value)) return *flag ? "true" : "false";
  if (const auto* text = std::get_if<std::string>(&e.value)) {
    const bool plain = text->find_first_of("\"\\\n\r\t") == text->npos;
    return plain ? "\"" + *text + "\"" : refuse(e.at, "escapes in strings", "");
  }
  if (const auto* integer = std::get_if<std::int64_t>(&e.value)) {
    const bool fits = *integer >= -std::numeric_limits<std::int32_t>::max() &&
                      *integer <= std::numeric_limits<std::int32_t>::max();
    if (!fits) return refuse(e.at, "ints of more than 32 bits", "");
    return number(std::to_string(std::abs(*integer)), *integer < 0);
  }
  const double value = std::get<double>(e.value);
  if (std::fabs(value) > std::numeric_limits<float>::max()) {
    return refuse(e.at, "floats of more than 32 bits", "");
  }
  char buffer[512];
  const auto end =
      std::to_chars(buffer, buffer + sizeof buffer, std::fabs(value), std::chars_format::fixed).ptr;
  std::string digits(buffer, end);
  if (digits.find('.') == digits.npos) digits += ".0";
  return number(digits, std::signbit(value));
}

std::string TRexRule::number(const std::string& digits, bool negative) {
  return negative ? "(0 - " + digits + ")" : digits;
}

}  // namespace gorgo::language
