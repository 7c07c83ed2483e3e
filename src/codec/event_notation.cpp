#include "codec/event_notation.hpp"

#include <cctype>
#include <nlohmann/json.hpp>
#include <optional>

#include "codec/text.hpp"
#include "codec/timestamp.hpp"

namespace gorgo::codec {
namespace {

bool is_part_of_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }
/// Types of the events that a server publishes about itself have a dot in their names.
bool is_part_of_type(char c) { return is_part_of_word(c) || c == '.'; }
bool is_part_of_number(char c) { return is_part_of_word(c) || c == '.' || c == '+' || c == '-'; }

void skip_spaces(std::string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
}

std::string_view take_while(std::string_view& text, bool (*belongs)(char)) {
  std::size_t size = 0;
  while (size < text.size() && belongs(text[size])) ++size;
  const std::string_view taken = text.substr(0, size);
  text.remove_prefix(size);
  return taken;
}

bool take_character(std::string_view& text, char wanted) {
  skip_spaces(text);
  if (!text.starts_with(wanted)) return false;
  text.remove_prefix(1);
  return true;
}

Error expected(std::string what, std::string_view found) {
  const std::string place = found.empty() ? "the end" : "'" + std::string(found) + "'";
  return {"expected " + std::move(what) + " at " + place,
          "an event is written @1000 Temp(area=\"A1\", value=46.5)"};
}

Result<Value> take_string(std::string_view& text) {
  std::size_t end = 1;
  while (end < text.size() && text[end] != '"') end += text[end] == '\\' ? 2 : 1;
  if (end >= text.size()) return expected("a closing quote", text);
  const auto json = nlohmann::json::parse(text.substr(0, end + 1), nullptr, false);
  if (!json.is_string()) return expected("a string", text);
  text.remove_prefix(end + 1);
  return Value(json.get<std::string>());
}

Result<Value> take_value(std::string_view& text) {
  skip_spaces(text);
  if (text.starts_with('"')) return take_string(text);
  const std::string_view before = text;
  const std::string_view word = take_while(text, is_part_of_number);
  if (word == "true" || word == "false") return Value(word == "true");
  if (float_from_name(word)) return Value(*float_from_name(word));
  if (const auto kind = number_kind(word)) {
    const auto number = datum_from_text(word, *kind);
    if (!number) return number.error();
    return to_value(*number);
  }
  return expected("a value", before);
}

Result<void> take_attributes(std::string_view& text, Event& event) {
  if (take_character(text, ')')) return {};
  do {
    skip_spaces(text);
    const std::string name(take_while(text, is_part_of_word));
    if (name.empty()) return expected("an attribute's name", text);
    if (!take_character(text, '=')) return expected("'='", text);
    auto value = take_value(text);
    if (!value) return value.error();
    event.attributes.push_back({name, *std::move(value)});
  } while (take_character(text, ','));
  if (!take_character(text, ')')) return expected("',' or ')'", text);
  return {};
}

void append_value(std::string& out, const Value& value) {
  switch (type_of(value)) {
    case ValueType::integer:
      return append_integer(out, std::get<std::int64_t>(value));
    case ValueType::floating:
      return append_float(out, std::get<double>(value));
    case ValueType::boolean:
      out += std::get<bool>(value) ? "true" : "false";
      return;
    case ValueType::string:
      return append_json_string(out, std::get<std::string>(value));
  }
}

}  // namespace

Result<Timestamp> take_time(std::string_view& text) {
  if (!take_character(text, '@')) return expected("'@' and a time", text);
  const auto timestamp = parse_milliseconds(take_while(text, is_part_of_number));
  skip_spaces(text);
  return timestamp;
}

Result<Event> take_event(std::string_view& text) {
  const auto timestamp = take_time(text);
  if (!timestamp) return timestamp.error();
  auto event = take_unstamped_event(text);
  if (event) event->timestamp = *timestamp;
  return event;
}

Result<Event> take_unstamped_event(std::string_view& text) {
  Event event;
  skip_spaces(text);
  event.type = take_while(text, is_part_of_type);
  if (event.type.empty()) return expected("a type", text);
  if (!take_character(text, '(')) return expected("'('", text);
  if (const auto taken = take_attributes(text, event); !taken) return taken.error();
  return event;
}

std::string notation_of(const Event& event) {
  std::string out = "@";
  if (event.timestamp) append_milliseconds(out, *event.timestamp);
  out += ' ' + event.type + '(';
  bool first = true;
  for (const auto& [name, value] : event.attributes) {
    if (!first) out += ", ";
    first = false;
    out += name + '=';
    append_value(out, value);
  }
  return out + ')';
}

}  // namespace gorgo::codec
