#include <toml++/toml.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <map>
#include <nlohmann/json.hpp>

#include "server/config/key.hpp"

namespace gorgo::server {
namespace {

Error unexpected(const ConfigKey& key, const std::string& text) {
  return {"'" + text + "': " + expectation_of(key), ""};
}

Result<ConfigValue> parse_list(const ConfigKey& key, const std::string& text) {
  if (!text.starts_with('[')) return ConfigValue(std::vector<std::string>{text});
  const auto parsed = toml::parse("list = " + text);
  if (!parsed) return unexpected(key, text);
  std::vector<std::string> list;
  for (const toml::node& element : *parsed.table()["list"].as_array()) {
    const auto item = element.value_exact<std::string>();
    if (!item) return unexpected(key, text);
    list.push_back(*item);
  }
  return ConfigValue(std::move(list));
}

Result<ConfigValue> parse_table(const ConfigKey& key, const std::string& text) {
  const auto parsed = toml::parse("table = " + text);
  const auto* table = parsed ? parsed.table()["table"].as_table() : nullptr;
  if (table == nullptr) return unexpected(key, text);
  std::map<std::string, std::string> entries;
  for (const auto& [name, node] : *table) {
    const auto value = node.value_exact<std::string>();
    if (!value) return unexpected(key, text);
    entries[std::string(name.str())] = *value;
  }
  return ConfigValue(std::move(entries));
}

/// A string of JSON is one of TOML.
std::string quoted(const std::string& text) {
  using Json = nlohmann::json;
  return Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
}

struct ToToml {
  std::string operator()(bool value) const { return value ? "true" : "false"; }
  std::string operator()(std::int64_t value) const { return std::to_string(value); }
  std::string operator()(const std::string& value) const { return quoted(value); }
  std::string operator()(const std::vector<std::string>& list) const {
    std::string text;
    for (const std::string& item : list) text += (text.empty() ? "" : ", ") + quoted(item);
    return "[" + text + "]";
  }
  std::string operator()(const std::map<std::string, std::string>& table) const {
    std::string text;
    for (const auto& [name, value] : table) {
      text += (text.empty() ? "" : ", ") + quoted(name) + " = " + quoted(value);
    }
    return "{" + text + "}";
  }
};

}  // namespace

std::string ConfigKey::variable() const {
  std::string upper = "GORGO__" + (section.empty() ? "" : section + "__") + name;
  std::ranges::transform(upper, upper.begin(), [](unsigned char c) { return std::toupper(c); });
  return upper;
}

std::string expectation_of(const ConfigKey& key) {
  if (!key.expected.empty()) return "expected " + key.expected;
  constexpr const char* kKinds[] = {"true or false", "a number", "a string", "a list of strings",
                                    "a table of strings"};
  return std::string("expected ") + kKinds[key.form.index()];
}

Result<ConfigValue> parse_config_value(const ConfigKey& key, const std::string& text) {
  if (std::holds_alternative<std::string>(key.form)) return ConfigValue(text);
  if (std::holds_alternative<std::vector<std::string>>(key.form)) return parse_list(key, text);
  if (std::holds_alternative<std::map<std::string, std::string>>(key.form)) {
    return parse_table(key, text);
  }
  if (std::holds_alternative<bool>(key.form)) {
    if (text != "true" && text != "false") return unexpected(key, text);
    return ConfigValue(text == "true");
  }
  std::int64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [stopped, failure] = std::from_chars(text.data(), end, number);
  if (failure != std::errc() || stopped != end) return unexpected(key, text);
  return ConfigValue(number);
}

std::string toml_text(const ConfigValue& value) { return std::visit(ToToml(), value); }

}  // namespace gorgo::server
