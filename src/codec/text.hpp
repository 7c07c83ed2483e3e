#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "gorgo/diagnostics.hpp"
#include "gorgo/value.hpp"

/// Values as text, in the one spelling that event lines and CSV share.
namespace gorgo::codec {

inline bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_valid_utf8(std::string_view text);
/// The beginning of a text without the mark (U+FEFF) that some programs put before UTF-8.
inline std::string_view without_byte_order_mark(std::string_view text) {
  return text.starts_with("\xEF\xBB\xBF") ? text.substr(3) : text;
}

void append_integer(std::string& out, std::int64_t value);

/// The shortest text that reads back as the same float and looks like one: `46.0`, `1e+22`,
/// `-0.0`; `NaN`, `Infinity` and `-Infinity` without quotes.
void append_float(std::string& out, double value);
/// The float that one of these three names stands for, or nothing for any other text.
std::optional<double> float_from_name(std::string_view text);

/// The float nearest to a number that is spelled as in JSON or in rules, which may be zero; nothing
/// where the number is too large for one.
std::optional<double> nearest_float(std::string_view text);

/// Whether `text` is spelled as a JSON number, and as which kind.
std::optional<ValueType> number_kind(std::string_view text);
/// The whole text as a value of the type: JSON numbers, the three names, `true` and `false`; any
/// text is a string, and the result refers to it. The error names text and type.
Result<Datum> datum_from_text(std::string_view text, ValueType type);

/// A JSON string with its quotes. Precondition: `text` is valid UTF-8.
void append_json_string(std::string& out, std::string_view text);

}  // namespace gorgo::codec
