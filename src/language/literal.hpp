#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gorgo/value.hpp"

/// What the literals of rule texts mean (language.md §2).
namespace gorgo::language {

/// The value of `digits`, negated when `negative`; nothing outside int64.
std::optional<std::int64_t> parse_integer(std::string_view digits, bool negative);

/// The nearest binary64; nothing beyond the largest finite one.
std::optional<double> parse_float(std::string_view text);

/// A string without quotes and escapes, or what is wrong with it and where.
struct Unquoted {
  std::string text;
  std::string problem;         ///< empty when the literal is good
  std::size_t problem_at = 0;  ///< bytes from the beginning of the literal
};
/// `literal` stands between quotes of one kind.
Unquoted unquote(std::string_view literal);

/// The nanoseconds of one unit, which may be in any case; nothing for an unknown unit.
std::optional<Duration> unit_length(std::string_view unit);
std::vector<std::string> unit_names();

/// `int`, `float`, `double`, `bool` or `string`, in any case.
std::optional<ValueType> value_type(std::string_view word);
std::vector<std::string> value_type_names();

/// The word with its ASCII letters in lower case.
std::string lower_case(std::string_view word);

}  // namespace gorgo::language
