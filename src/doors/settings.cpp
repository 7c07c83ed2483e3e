#include "doors/settings.hpp"

#include <algorithm>
#include <functional>

#include "codec/time_format.hpp"
#include "doors/payload.hpp"
#include "doors/topic.hpp"
#include "protocol/address.hpp"

namespace gorgo::doors {
namespace {

/// Which doors a key is for.
enum class For : std::uint8_t { all, sources, files, file_sources, mqtt, mqtt_sources, mqtt_sinks };

struct Key {
  std::string_view name;
  For whom;
  SettingValue form;  ///< any value of the type that it takes
  std::function<void(Settings&, const SettingValue&)> set;
};

template <class T>
Key key(std::string_view name, For whom, T Settings::*member) {
  return {name, whom, T(), [member](Settings& settings, const SettingValue& value) {
            settings.*member = std::get<T>(value);
          }};
}

const std::vector<Key>& keys() {
  static const std::vector<Key> all = {key("kind", For::all, &Settings::kind),
                                       key("subscribe", For::all, &Settings::subscribe),
                                       key("format", For::sources, &Settings::format),
                                       key("type", For::sources, &Settings::type),
                                       key("type_column", For::sources, &Settings::type_column),
                                       key("time_column", For::sources, &Settings::time_column),
                                       key("time_format", For::sources, &Settings::time_format),
                                       key("zone", For::sources, &Settings::zone),
                                       key("separator", For::sources, &Settings::separator),
                                       key("columns", For::sources, &Settings::columns),
                                       key("rename", For::sources, &Settings::rename),
                                       key("path", For::files, &Settings::path),
                                       key("from", For::file_sources, &Settings::from),
                                       key("broker", For::mqtt, &Settings::broker),
                                       key("topics", For::mqtt_sources, &Settings::topics),
                                       key("topic", For::mqtt_sinks, &Settings::topic),
                                       key("client_id", For::mqtt, &Settings::client_id),
                                       key("user", For::mqtt, &Settings::user),
                                       key("password_file", For::mqtt, &Settings::password_file),
                                       key("max_in_flight", For::mqtt, &Settings::max_in_flight),
                                       key("ca", For::mqtt, &Settings::ca)};
  return all;
}

const Key* find_key(std::string_view name) {
  const auto found = std::ranges::find(keys(), name, &Key::name);
  return found == keys().end() ? nullptr : &*found;
}

std::string_view type_of(const SettingValue& form) {
  constexpr std::string_view kTypes[] = {"true or false", "a number", "a string",
                                         "a list of strings", "a table of strings"};
  return kTypes[form.index()];
}

/// Why the key says nothing about such a door; empty: it does.
std::string misplaced(const Key& key, const Settings& settings) {
  const bool file = settings.kind == "file", sink = settings.is_sink();
  const auto only = [](bool fits, const char* whom) {
    return fits ? std::string() : std::string("is for ") + whom;
  };
  switch (key.whom) {
    case For::all:
      return "";
    case For::sources:
      return only(!sink, "doors through which events come in");
    case For::files:
      return only(file, "doors of kind file");
    case For::file_sources:
      return only(file && !sink, "doors of kind file through which events come in");
    case For::mqtt:
      return only(!file, "doors of kind mqtt");
    case For::mqtt_sources:
      return only(!file && !sink, "doors of kind mqtt through which events come in");
    case For::mqtt_sinks:
      return only(!file && sink, "doors of kind mqtt through which events leave");
  }
  return "";
}

Result<void> check_path(const Settings& settings) {
  if (settings.path.empty())
    return Error{"path: no file is named", "path = \"/var/log/app.ndjson\""};
  if (settings.from == "beginning" || settings.from == "end") return {};
  return Error{"from: '" + settings.from + "' is unknown", "one of beginning, end"};
}

Result<void> check_mqtt(const Settings& settings) {
  constexpr std::int64_t kMostInFlight = 65535;
  const auto address = protocol::parse_address(settings.broker);
  if (!address) return Error{"broker: " + address.error().message, "broker = \"127.0.0.1:1883\""};
  if (settings.max_in_flight < 1 || settings.max_in_flight > kMostInFlight) {
    return Error{"max_in_flight: expected a number, 1 to 65535", ""};
  }
  if (settings.user.empty() != settings.password_file.empty()) {
    return Error{"user and password_file go together", "give both or neither"};
  }
  if (settings.is_sink()) return check_topic(settings.topic);
  if (settings.topics.empty()) {
    return Error{"topics: no topic is named", "topics = [\"sensors/{area}/temp\"]"};
  }
  for (const std::string& topic : settings.topics) {
    if (const auto pattern = TopicPattern::make(topic); !pattern) return pattern.error();
  }
  return {};
}

Result<void> check_name(const std::string& name) {
  constexpr std::size_t kLongest = 64;
  const auto fits = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-';
  };
  if (!name.empty() && name.size() <= kLongest && std::ranges::all_of(name, fits)) return {};
  return Error{"the name of a door has 1 to 64 letters, digits, - and _", "[doors.plant-1]"};
}

Result<void> check_keys(const Settings& settings) {
  if (std::ranges::find(kinds(), settings.kind) == kinds().end()) {
    std::string known;
    for (const std::string& kind : kinds()) known += (known.empty() ? "" : ", ") + kind;
    return Error{settings.kind.empty()
                     ? "kind: it is not said what the door leads to"
                     : "kind: this program has no doors of kind '" + settings.kind + "'",
                 "one of " + known};
  }
  for (const auto& [name, value] : settings.given) {
    const std::string why = misplaced(*find_key(name), settings);
    if (!why.empty()) return Error{name + " " + why, "leave it out"};
  }
  return {};
}

}  // namespace

const std::vector<std::string>& kinds() {
  static const std::vector<std::string> all = {"file", "mqtt"};
  return all;
}

Result<void> set(Settings& settings, const std::string& name, const SettingValue& value) {
  const Key* const key = find_key(name);
  if (key == nullptr) {
    std::vector<std::string> names;
    for (const Key& known : keys()) names.emplace_back(known.name);
    const std::string nearest(closest_name(name, names));
    return Error{
        name + ": unknown key" + (nearest.empty() ? "" : ", did you mean '" + nearest + "'?"),
        "docs/doors.md lists the keys of doors"};
  }
  if (value.index() != key->form.index()) {
    return Error{name + ": expected " + std::string(type_of(key->form)), ""};
  }
  key->set(settings, value);
  settings.given[name] = value;
  return {};
}

Result<void> check(const std::string& name, const Settings& settings) {
  auto checked = check_name(name);
  if (checked) checked = check_keys(settings);
  if (checked) checked = settings.kind == "file" ? check_path(settings) : check_mqtt(settings);
  if (checked && !settings.is_sink()) checked = check_form(settings);
  if (checked) return {};
  return Error{"doors." + name + ": " + checked.error().message, checked.error().hint};
}

}  // namespace gorgo::doors
