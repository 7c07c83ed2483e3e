#include "codec/json_parts.hpp"

#include <simdjson.h>

#include <algorithm>
#include <optional>

namespace gorgo::codec {
namespace {

namespace json = simdjson::ondemand;

/// Line ends stand between values only: within strings JSON escapes them.
std::string on_one_line(std::string_view text) {
  std::string line(text);
  std::ranges::replace_if(
      line, [](char c) { return c == '\n' || c == '\r'; }, ' ');
  return line;
}

std::optional<std::string> member_of(std::string_view text, std::string_view name) {
  const simdjson::padded_string padded(text);
  json::parser parser;
  json::document document;
  json::object object;
  std::optional<std::string> found;
  if (parser.iterate(padded).get(document) || document.get_object().get(object)) return found;
  for (auto field : object) {
    std::string_view key, value;
    if (field.unescaped_key().get(key) || simdjson::to_json_string(field.value()).get(value)) {
      return std::nullopt;
    }
    if (key == name) found = value;
  }
  return found;
}

}  // namespace

std::vector<std::string> json_parts(std::string_view text, std::string_view member) {
  std::optional<std::string> value(text);
  if (!member.empty()) value = member_of(text, member);
  if (!value) return {};
  const simdjson::padded_string padded(*value);
  json::parser parser;
  json::document document;
  json::array array;
  if (parser.iterate(padded).get(document) || document.get_array().get(array)) {
    return {on_one_line(*value)};
  }
  std::vector<std::string> parts;
  for (auto element : array) {
    std::string_view part;
    if (simdjson::to_json_string(element).get(part)) return {on_one_line(*value)};
    parts.push_back(on_one_line(part));
  }
  return parts;
}

}  // namespace gorgo::codec
