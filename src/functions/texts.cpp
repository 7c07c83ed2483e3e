#include "functions/texts.hpp"

#include <utf8proc.h>

#include <algorithm>
#include <string>

#include "codec/text.hpp"
#include "functions/computed_texts.hpp"

namespace gorgo::functions {
namespace {

bool begins_code_point(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) != 0x80; }

Datum kept(std::string text) { return Datum::of(ComputedTexts::keep(std::move(text))); }

std::int64_t code_points(std::string_view text) {
  return std::ranges::count_if(text, begins_code_point);
}

std::string mapped(std::string_view text, utf8proc_int32_t (*map)(utf8proc_int32_t)) {
  std::string result;
  result.reserve(text.size());
  const auto* at = reinterpret_cast<const utf8proc_uint8_t*>(text.data());
  const auto* const end = at + text.size();
  while (at != end) {
    utf8proc_int32_t code_point = 0;
    const auto taken = utf8proc_iterate(at, end - at, &code_point);
    if (taken <= 0) {  // no UTF-8: the byte stays
      result += static_cast<char>(*at++);
      continue;
    }
    at += taken;
    utf8proc_uint8_t bytes[4];
    const auto size = utf8proc_encode_char(map(code_point), bytes);
    result.append(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(size));
  }
  return result;
}

std::string joined(std::span<const Datum> parts) {
  std::string result;
  for (const Datum& part : parts) {
    switch (part.tag) {
      case Datum::Tag::integer:
        codec::append_integer(result, part.integer);
        break;
      case Datum::Tag::floating:
        codec::append_float(result, part.floating);
        break;
      case Datum::Tag::boolean:
        result += part.boolean ? "true" : "false";
        break;
      default:
        result += part.text();
    }
  }
  return result;
}

/// Where the code point of this number, from 0, begins.
std::size_t position_of(std::string_view text, std::int64_t number) {
  std::size_t at = 0;
  for (; at < text.size(); ++at) {
    if (begins_code_point(text[at]) && number-- <= 0) break;
  }
  return at;
}

Datum part(std::span<const Datum> arguments) {
  const std::string_view text = arguments[0].text();
  const std::int64_t first = arguments[1].integer;
  if (first < 1) return Datum::none();
  const std::string_view rest = text.substr(position_of(text, first - 1));
  if (arguments.size() == 2) return Datum::of(rest);
  const std::int64_t count = arguments[2].integer;
  if (count < 0) return Datum::none();
  return Datum::of(rest.substr(0, position_of(rest, count)));
}

}  // namespace

Datum call_on_texts(Function function, std::span<const Datum> arguments, const Prepared* prepared) {
  const auto text = [&](std::size_t i) { return arguments[i].text(); };
  switch (function) {
    case Function::length:
      return Datum::of(code_points(text(0)));
    case Function::lower:
      return kept(mapped(text(0), utf8proc_tolower));
    case Function::upper:
      return kept(mapped(text(0), utf8proc_toupper));
    case Function::concat:
      return kept(joined(arguments));
    case Function::starts_with:
      return Datum::of(text(0).starts_with(text(1)));
    case Function::ends_with:
      return Datum::of(text(0).ends_with(text(1)));
    case Function::substring:
      return part(arguments);
    default:
      return Datum::of(RE2::PartialMatch({text(0).data(), text(0).size()}, *prepared->pattern));
  }
}

}  // namespace gorgo::functions
