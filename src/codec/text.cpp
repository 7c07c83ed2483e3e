#include "codec/text.hpp"

#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>

namespace gorgo::codec {
namespace {

/// Length of the well-formed character at the front of `text`, 0 when there is none.
std::size_t character_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return 1;
  if (lead < 0xC2 || lead > 0xF4) return 0;
  const std::size_t length = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  if (text.size() < length) return 0;
  // The second byte's range excludes overlong forms, surrogates and what lies above U+10FFFF.
  const unsigned char low = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
  const unsigned char high = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
  if (byte(1) < low || byte(1) > high) return 0;
  for (std::size_t i = 2; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
  }
  return length;
}

bool needs_escape(char c) { return static_cast<unsigned char>(c) < 0x20 || c == '"' || c == '\\'; }

void append_escape(std::string& out, char c) {
  switch (c) {
    case '"':
      out += "\\\"";
      return;
    case '\\':
      out += "\\\\";
      return;
    case '\n':
      out += "\\n";
      return;
    case '\t':
      out += "\\t";
      return;
    case '\r':
      out += "\\r";
      return;
    default:
      break;
  }
  constexpr char kHex[] = "0123456789abcdef";
  out += "\\u00";
  out += kHex[static_cast<unsigned char>(c) >> 4];
  out += kHex[c & 0xF];
}

std::size_t skip_digits(std::string_view text, std::size_t at) {
  while (at < text.size() && is_digit(text[at])) ++at;
  return at;
}

/// The whole text as an int; nothing when it is none or out of range.
std::optional<std::int64_t> integer_from(std::string_view text) {
  std::int64_t value = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  if (read.ec != std::errc() || read.ptr != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

bool is_valid_utf8(std::string_view text) {
  std::size_t i = 0;
  while (i < text.size()) {
    std::uint64_t eight = 0;
    if (i + 8 <= text.size()) {
      std::memcpy(&eight, text.data() + i, 8);
      if ((eight & 0x8080808080808080u) == 0) {
        i += 8;
        continue;
      }
    }
    const std::size_t length = character_length(text.substr(i));
    if (length == 0) return false;
    i += length;
  }
  return true;
}

void append_integer(std::string& out, std::int64_t value) {
  char digits[24];
  out.append(digits, std::to_chars(digits, digits + sizeof digits, value).ptr);
}

void append_float(std::string& out, double value) {
  if (std::isnan(value)) {
    out += "NaN";
    return;
  }
  if (std::isinf(value)) {
    out += value < 0 ? "-Infinity" : "Infinity";
    return;
  }
  // Plain decimals stand where they are as good as exact, exponents beyond.
  const double size = std::abs(value);
  const bool plain = size == 0 || (size >= 1e-5 && size < 1e16);
  const auto format = plain ? std::chars_format::fixed : std::chars_format::scientific;
  char digits[32];
  const auto written = std::to_chars(digits, digits + sizeof digits, value, format);
  const std::string_view text(digits, static_cast<std::size_t>(written.ptr - digits));
  out += text;
  if (text.find_first_of(".e") == text.npos) out += ".0";
}

std::optional<double> float_from_name(std::string_view text) {
  if (text == "NaN") return std::numeric_limits<double>::quiet_NaN();
  if (text == "Infinity") return std::numeric_limits<double>::infinity();
  if (text == "-Infinity") return -std::numeric_limits<double>::infinity();
  return std::nullopt;
}

std::optional<double> nearest_float(std::string_view text) {
  double value = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  if (read.ptr != text.data() + text.size()) return std::nullopt;
  if (read.ec == std::errc()) return value;
  if (read.ec != std::errc::result_out_of_range) return std::nullopt;
  // from_chars does not tell what is too small from what is too large.
  value = std::strtod(std::string(text).c_str(), nullptr);
  return std::isinf(value) ? std::nullopt : std::optional(value);
}

std::optional<ValueType> number_kind(std::string_view text) {
  std::size_t at = text.starts_with('-') ? 1 : 0;
  const std::size_t whole = skip_digits(text, at);
  if (whole == at || (text[at] == '0' && whole > at + 1)) return std::nullopt;
  if (whole == text.size()) return ValueType::integer;
  at = whole;
  if (text[at] == '.') {
    const std::size_t end = skip_digits(text, at + 1);
    if (end == at + 1) return std::nullopt;
    at = end;
  }
  if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    ++at;
    if (at < text.size() && (text[at] == '+' || text[at] == '-')) ++at;
    const std::size_t end = skip_digits(text, at);
    if (end == at) return std::nullopt;
    at = end;
  }
  return at == text.size() ? std::optional(ValueType::floating) : std::nullopt;
}

Result<Datum> datum_from_text(std::string_view text, ValueType type) {
  switch (type) {
    case ValueType::integer:
      if (const auto value = integer_from(text)) return Datum::of(*value);
      break;
    case ValueType::floating:
      if (const auto value = float_from_name(text)) return Datum::of(*value);
      if (!number_kind(text)) break;
      if (const auto value = nearest_float(text)) return Datum::of(*value);
      break;
    case ValueType::boolean:
      if (text == "true" || text == "false") return Datum::of(text == "true");
      break;
    case ValueType::string:
      return Datum::of(text);
  }
  return Error{"'" + std::string(text) + "' is not of type " + std::string(to_string(type)), ""};
}

void append_json_string(std::string& out, std::string_view text) {
  out += '"';
  std::size_t plain = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (!needs_escape(text[i])) continue;
    out += text.substr(plain, i - plain);
    append_escape(out, text[i]);
    plain = i + 1;
  }
  out += text.substr(plain);
  out += '"';
}

}  // namespace gorgo::codec
