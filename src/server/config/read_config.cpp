#include <toml++/toml.h>

#include <limits>
#include <map>
#include <optional>
#include <vector>

#include "base/file.hpp"
#include "codec/nesting.hpp"
#include "server/config/door_text.hpp"
#include "server/config/key.hpp"
#include "server/options.hpp"

extern char** environ;

namespace gorgo::server {
namespace {

constexpr std::string_view kVariable = "GORGO__";

/// Of a node or of an error; empty where it stands nowhere.
template <class T>
std::string place_of(const T& it) {
  const auto& at = it.source().begin;
  return at.line == 0 ? "" : std::to_string(at.line) + ":" + std::to_string(at.column) + ": ";
}

Error unknown(const std::string& place, const std::string& name, std::string_view closest) {
  return {place + name + ": unknown key" +
              (closest.empty() ? "" : ", did you mean '" + std::string(closest) + "'?"),
          "`gorgo serve --print-config` shows all keys"};
}

/// The names of the keys of a section; of the root also those of the sections.
std::vector<std::string> names_in(std::string_view section) {
  std::vector<std::string> names;
  for (const ConfigKey& key : config_keys()) {
    if (key.section == section) names.push_back(key.name);
    if (section.empty() && !key.section.empty()) names.push_back(key.section);
  }
  return names;
}

bool is_section(std::string_view name) {
  return std::ranges::any_of(config_keys(),
                             [&](const ConfigKey& key) { return key.section == name; });
}

std::optional<ConfigValue> list_of(const toml::array& array) {
  std::vector<std::string> list;
  for (const toml::node& element : array) {
    const auto item = element.value_exact<std::string>();
    if (!item) return std::nullopt;
    list.push_back(*item);
  }
  return list;
}

std::optional<ConfigValue> table_of(const toml::table& table) {
  std::map<std::string, std::string> entries;
  for (const auto& [key, node] : table) {
    const auto text = node.value_exact<std::string>();
    if (!text) return std::nullopt;
    entries[std::string(key.str())] = *text;
  }
  return entries;
}

/// Unset: it is of a type that no key takes.
std::optional<ConfigValue> value_of(const toml::node& node) {
  if (const auto text = node.value_exact<std::string>()) return *text;
  if (const auto flag = node.value_exact<bool>()) return *flag;
  if (const auto number = node.value_exact<std::int64_t>()) return *number;
  if (const auto* array = node.as_array()) return list_of(*array);
  if (const auto* table = node.as_table()) return table_of(*table);
  return std::nullopt;
}

/// Unset: the node does not have the type that the key takes.
std::optional<ConfigValue> value_of(const toml::node& node, const ConfigKey& key) {
  std::optional<ConfigValue> value = value_of(node);
  const auto* number = value ? std::get_if<std::int64_t>(&*value) : nullptr;
  if (number != nullptr && key.takes_numbers) value = std::to_string(*number);
  if (value && value->index() != key.form.index()) return std::nullopt;
  return value;
}

std::optional<Error> read_key(const toml::node& node, const ConfigKey& key,
                              ServerOptions& options) {
  const std::string where = place_of(node) + key.full_name() + ": ";
  const auto value = value_of(node, key);
  if (!value) return Error{where + expectation_of(key), ""};
  if (auto done = key.set(options, *value); !done) {
    return Error{where + done.error().message, done.error().hint};
  }
  return std::nullopt;
}

/// Reads the keys of a door or of a target of actions, which `name` says: "actions.ops". What
/// stands in a table within the table has a key with dots, behind `prefix`.
template <class Settings>
std::optional<Error> read_named(const toml::table& table, const std::string& name,
                                const std::string& prefix, Settings& settings) {
  for (const auto& [last, node] : table) {
    const std::string key = prefix + std::string(last.str());
    const std::string where = place_of(node) + name + ".";
    const auto value = value_of(node);
    if (!value && node.is_table()) {
      if (auto error = read_named(*node.as_table(), name, key + ".", settings)) return error;
      continue;
    }
    if (!value) return Error{where + key + ": no key takes such a value", ""};
    if (const auto done = set(settings, key, *value); !done) {
      return Error{where + done.error().message, done.error().hint};
    }
  }
  return std::nullopt;
}

/// Reads a table of tables.
template <class Settings>
std::optional<Error> read_all(const toml::node& node, const std::string& all,
                              std::map<std::string, Settings>& settings) {
  const auto* table = node.as_table();
  if (table == nullptr) return Error{place_of(node) + all + ": expected a table", ""};
  for (const auto& [key, one] : *table) {
    const std::string name(key.str());
    if (!one.is_table()) {
      return Error{place_of(one) + all + "." + name + ": expected a table",
                   "write [" + all + "." + name + "]"};
    }
    const std::string full = all + "." + name;
    if (auto error = read_named(*one.as_table(), full, "", settings[name])) return error;
  }
  return std::nullopt;
}

std::optional<Error> read_table(const toml::table& table, const std::string& section,
                                ServerOptions& options) {
  for (const auto& [name, node] : table) {
    const std::string key_name(name.str());
    if (section.empty() && key_name == "doors") {
      if (auto error = read_all(node, key_name, options.doors)) return error;
      continue;
    }
    if (section.empty() && key_name == "actions") {
      if (auto error = read_all(node, key_name, options.actions)) return error;
      continue;
    }
    if (section.empty() && is_section(key_name)) {
      if (!node.is_table()) return Error{place_of(node) + key_name + ": expected a table", ""};
      if (auto error = read_table(*node.as_table(), key_name, options)) return error;
      continue;
    }
    const ConfigKey* const key = find_config_key(section, key_name);
    if (key == nullptr) {
      const auto names = names_in(section);
      return unknown(place_of(node), section.empty() ? key_name : section + "." + key_name,
                     closest_name(key_name, names));
    }
    if (auto error = read_key(node, *key, options)) return error;
  }
  return std::nullopt;
}

const ConfigKey* key_of_variable(std::string_view variable) {
  for (const ConfigKey& key : config_keys()) {
    if (key.variable() == variable) return &key;
  }
  return nullptr;
}

Result<void> read_variable(const std::string& variable, const std::string& text,
                           ServerOptions& options) {
  const ConfigKey* const key = key_of_variable(variable);
  if (key == nullptr) {
    std::vector<std::string> names;
    for (const ConfigKey& known : config_keys()) names.push_back(known.variable());
    return unknown("", variable, closest_name(variable, names));
  }
  const auto value = parse_config_value(*key, text);
  if (!value) return Error{variable + ": " + value.error().message, value.error().hint};
  if (auto done = key->set(options, *value); !done) {
    return Error{variable + ": " + done.error().message, done.error().hint};
  }
  return {};
}

}  // namespace

Result<void> check_times(const ProcessorOptions& options) {
  const Duration ahead = options.max_ahead.value_or(std::numeric_limits<Duration>::max());
  if (ahead == 0 || ahead < options.max_late) return {};
  const auto milliseconds = [](Duration d) { return std::to_string(d / 1'000'000) + " ms"; };
  return Error{"engine.max_ahead_ms (" + milliseconds(ahead) +
                   ") must be below engine.max_late_ms (" + milliseconds(options.max_late) + ")",
               "or one client whose clock is fast makes everybody else's events too late; lower "
               "max_ahead_ms or raise max_late_ms"};
}

Result<doors::Settings> read_door(const std::string& name, const std::string& text) {
  if (codec::is_deep_toml(text)) return Error{"a key has too many parts", ""};
  const auto parsed = toml::parse(text);
  if (!parsed)
    return Error{
        place_of(parsed.error()) + "this is no TOML: " + std::string(parsed.error().description()),
        R"(write the keys of a door: kind = "file")"};
  if (parsed.table().contains("doors")) {
    return Error{"the text has the door within [doors]",
                 "leave the line [doors.NAME] out: the name stands beside the text"};
  }
  doors::Settings settings;
  if (const auto error = read_named(parsed.table(), "doors." + name, "", settings)) return *error;
  return settings;
}

Result<void> read_config(const std::string& path, ServerOptions& options) {
  const auto text = read_file(path);
  if (!text) return text.error();
  const auto parsed = toml::parse(*text, path);
  if (!parsed) {
    return Error{path + ":" + place_of(parsed.error()) + std::string(parsed.error().description()),
                 ""};
  }
  if (const auto error = read_table(parsed.table(), "", options)) {
    return Error{path + ":" + error->message, error->hint};
  }
  return {};
}

Result<void> read_environment(ServerOptions& options) {
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view variable(*entry);
    if (!variable.starts_with(kVariable)) continue;
    const std::size_t equals = variable.find('=');
    if (equals == std::string_view::npos) continue;
    auto done = read_variable(std::string(variable.substr(0, equals)),
                              std::string(variable.substr(equals + 1)), options);
    if (!done) return done;
  }
  return {};
}

}  // namespace gorgo::server
