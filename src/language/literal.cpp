#include "language/literal.hpp"

#include <array>
#include <charconv>
#include <limits>
#include <utility>

#include "codec/text.hpp"

namespace gorgo::language {
namespace {

constexpr Duration kSecond = 1'000'000'000;

constexpr auto kUnits =
    std::to_array<std::pair<std::string_view, Duration>>({{"ns", 1},
                                                          {"us", 1'000},
                                                          {"ms", 1'000'000},
                                                          {"s", kSecond},
                                                          {"sec", kSecond},
                                                          {"secs", kSecond},
                                                          {"second", kSecond},
                                                          {"seconds", kSecond},
                                                          {"min", 60 * kSecond},
                                                          {"mins", 60 * kSecond},
                                                          {"minute", 60 * kSecond},
                                                          {"minutes", 60 * kSecond},
                                                          {"h", 3'600 * kSecond},
                                                          {"hour", 3'600 * kSecond},
                                                          {"hours", 3'600 * kSecond},
                                                          {"d", 86'400 * kSecond},
                                                          {"day", 86'400 * kSecond},
                                                          {"days", 86'400 * kSecond}});

constexpr auto kValueTypes =
    std::to_array<std::pair<std::string_view, ValueType>>({{"int", ValueType::integer},
                                                           {"float", ValueType::floating},
                                                           {"double", ValueType::floating},
                                                           {"bool", ValueType::boolean},
                                                           {"string", ValueType::string}});

template <class T, std::size_t N>
std::optional<T> look_up(const std::array<std::pair<std::string_view, T>, N>& table,
                         std::string_view word) {
  const std::string lower = lower_case(word);
  for (const auto& [name, value] : table) {
    if (name == lower) return value;
  }
  return std::nullopt;
}

template <class T, std::size_t N>
std::vector<std::string> names_of(const std::array<std::pair<std::string_view, T>, N>& table) {
  std::vector<std::string> names;
  for (const auto& [name, value] : table) names.emplace_back(name);
  return names;
}

void append_utf8(std::string& text, std::uint32_t code) {
  const auto put = [&](std::uint32_t byte) { text += static_cast<char>(byte); };
  if (code < 0x80) return put(code);
  if (code < 0x800) {
    put(0xC0 | (code >> 6));
  } else if (code < 0x10000) {
    put(0xE0 | (code >> 12));
    put(0x80 | ((code >> 6) & 0x3F));
  } else {
    put(0xF0 | (code >> 18));
    put(0x80 | ((code >> 12) & 0x3F));
    put(0x80 | ((code >> 6) & 0x3F));
  }
  put(0x80 | (code & 0x3F));
}

/// The four hexadecimal digits that `text` begins with.
std::optional<std::uint32_t> hex4(std::string_view text) {
  std::uint32_t code = 0;
  if (text.size() < 4) return std::nullopt;
  const auto [end, error] = std::from_chars(text.data(), text.data() + 4, code, 16);
  if (error != std::errc() || end != text.data() + 4) return std::nullopt;
  return code;
}

/// Reads what follows `\u`, a surrogate pair included; returns the bytes read, 0 for an error.
std::size_t append_unicode_escape(std::string& text, std::string_view digits) {
  const auto first = hex4(digits);
  if (!first || (*first >= 0xDC00 && *first <= 0xDFFF)) return 0;
  if (*first < 0xD800 || *first > 0xDBFF) {
    append_utf8(text, *first);
    return 4;
  }
  if (digits.substr(4, 2) != "\\u") return 0;
  const auto second = hex4(digits.substr(6));
  if (!second || *second < 0xDC00 || *second > 0xDFFF) return 0;
  append_utf8(text, 0x10000 + ((*first - 0xD800) << 10) + (*second - 0xDC00));
  return 10;
}

/// The byte that a backslash and `letter` stand for.
std::optional<char> simple_escape(char letter) {
  constexpr std::string_view kLetters = "nrtbf0\\\"'/";
  constexpr std::string_view kBytes("\n\r\t\b\f\0\\\"'/", kLetters.size());
  const auto at = kLetters.find(letter);
  if (at == kLetters.npos) return std::nullopt;
  return kBytes[at];
}

}  // namespace

std::optional<std::int64_t> parse_integer(std::string_view digits, bool negative) {
  std::uint64_t magnitude = 0;
  const auto result = std::from_chars(digits.data(), digits.data() + digits.size(), magnitude);
  constexpr std::uint64_t kMax = std::numeric_limits<std::int64_t>::max();
  if (result.ec != std::errc() || magnitude > kMax + (negative ? 1 : 0)) return std::nullopt;
  return static_cast<std::int64_t>(negative ? -magnitude : magnitude);
}

std::optional<double> parse_float(std::string_view text) { return codec::nearest_float(text); }

Unquoted unquote(std::string_view literal) {
  if (!codec::is_valid_utf8(literal)) return {.problem = "the string is not valid UTF-8"};
  Unquoted result;
  const std::string_view body = literal.substr(1, literal.size() - 2);
  std::size_t at = 0;
  while (at < body.size()) {
    if (body[at] != '\\') {
      result.text += body[at++];
      continue;
    }
    // The lexer sees to it that a byte follows every backslash.
    const char letter = body[at + 1];
    std::size_t read = 2;
    if (const auto byte = simple_escape(letter)) {
      result.text += *byte;
    } else if (letter == 'u') {
      const std::size_t digits = append_unicode_escape(result.text, body.substr(at + 2));
      if (digits == 0) {
        return {.problem = "`\\u` is followed by four hexadecimal digits", .problem_at = at + 1};
      }
      read += digits;
    } else {
      return {.problem = "unknown escape in a string", .problem_at = at + 1};
    }
    at += read;
  }
  return result;
}

std::optional<Duration> unit_length(std::string_view unit) { return look_up(kUnits, unit); }

std::vector<std::string> unit_names() { return names_of(kUnits); }

std::optional<ValueType> value_type(std::string_view word) { return look_up(kValueTypes, word); }

std::vector<std::string> value_type_names() { return names_of(kValueTypes); }

std::string lower_case(std::string_view word) {
  std::string lower(word);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

}  // namespace gorgo::language
