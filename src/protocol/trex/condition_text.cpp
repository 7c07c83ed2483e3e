#include "protocol/trex/condition_text.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include "codec/names.hpp"
#include "codec/text.hpp"
#include "protocol/trex/latin1.hpp"

namespace gorgo::protocol::trex {

std::string default_name(std::int32_t type) {
  if (type >= 0) return "T" + std::to_string(type);
  return "T_" + std::to_string(-std::int64_t{type});
}

std::optional<std::int32_t> number_in(std::string_view name) {
  if (!name.starts_with('T')) return std::nullopt;
  std::string digits(name.substr(1));
  if (digits.starts_with('_')) digits[0] = '-';
  std::int32_t number = 0;
  const auto [end, failure] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (failure != std::errc() || default_name(number) != name) return std::nullopt;
  return number;
}

Result<std::string> attribute_text(std::string_view latin1) {
  std::string name = to_utf8(latin1);
  if (auto problem = codec::problem_of_attribute_name(name)) return *problem;
  return {std::in_place, std::move(name)};
}

Result<std::string> literal_text(const Literal& value) {
  std::string text;
  if (const auto* integer = std::get_if<std::int32_t>(&value)) {
    codec::append_integer(text, *integer);
  } else if (const auto* real = std::get_if<float>(&value)) {
    if (!std::isfinite(*real)) return Error{"rules cannot compare with NaN or an infinity", ""};
    codec::append_float(text, *real);
  } else if (const auto* truth = std::get_if<bool>(&value)) {
    text = *truth ? "true" : "false";
  } else {
    codec::append_json_string(text, to_utf8(std::get<std::string_view>(value)));
  }
  return {std::in_place, std::move(text)};
}

std::string_view comparison_text(Comparison comparison) {
  switch (comparison) {
    case Comparison::equal:
      return " = ";
    case Comparison::less:
      return " < ";
    case Comparison::greater:
      return " > ";
    case Comparison::not_equal:
      return " != ";
    case Comparison::contains:
      return " contains ";
    case Comparison::less_equal:
      return " <= ";
    case Comparison::greater_equal:
      return " >= ";
  }
  return {};
}

Result<std::string> condition_text(const Constraint& constraint) {
  auto name = attribute_text(constraint.name);
  if (!name) return name.error();
  auto value = literal_text(constraint.value);
  if (!value) return value.error();
  return {std::in_place, *name + std::string(comparison_text(constraint.comparison)) + *value};
}

Result<std::string> subscription_text(const Subscription& subscription, const TypeNames& names) {
  std::vector<std::string> conditions;
  for (const Constraint& constraint : subscription.constraints) {
    auto condition = condition_text(constraint);
    if (!condition) return condition.error();
    conditions.push_back(std::move(*condition));
  }
  std::ranges::sort(conditions);
  conditions.erase(std::unique(conditions.begin(), conditions.end()), conditions.end());
  std::string text = names(subscription.type) + "(";
  for (const auto& condition : conditions) {
    if (text.back() != '(') text += ", ";
    text += condition;
  }
  return {std::in_place, text + ")"};
}

}  // namespace gorgo::protocol::trex
