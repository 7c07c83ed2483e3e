#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "gorgo/diagnostics.hpp"

namespace gorgo::doors {

/// What a key of a door may be set to.
using SettingValue = std::variant<bool, std::int64_t, std::string, std::vector<std::string>,
                                  std::map<std::string, std::string>>;

/// A door as the configuration has it. docs/doors.md says what each key means.
struct Settings {
  std::string kind;  ///< "file" or "mqtt"

  /// The subscription whose events leave through the door; empty: events come in.
  std::string subscribe;

  // How payloads become events.
  std::string format = "events";  ///< or "json", "csv"
  std::string type;
  std::string type_column = "type";
  std::string time_column;
  std::string time_format = "auto";
  std::string zone;
  std::string separator = ",";
  std::vector<std::string> columns;           ///< of CSV without a header
  std::map<std::string, std::string> rename;  ///< by column or member, the attribute

  std::string path;                ///< of a file; a source takes a pattern
  std::string from = "beginning";  ///< where files begin that were never read; or "end"

  std::string broker;               ///< HOST:PORT
  std::vector<std::string> topics;  ///< of a source: "sensors/{area}/{type}"
  std::string topic;                ///< of a sink: "alarms/{type}"
  std::string client_id;
  std::string user;
  std::string password_file;
  std::int64_t max_in_flight = 200;  ///< messages that are not acknowledged yet
  std::string ca;                    ///< PEM; set: the broker speaks TLS

  /// All keys that were given, by name. Doors with the same ones are the same.
  std::map<std::string, SettingValue> given;

  bool is_sink() const { return !subscribe.empty(); }
  /// The file or broker, for people.
  std::string target() const { return kind == "file" ? path : broker; }

  friend bool operator==(const Settings& a, const Settings& b) { return a.given == b.given; }
};

/// Doors by name.
using Doors = std::map<std::string, Settings>;

/// Sets a key. An error: there is no such key, or the value is none that it takes.
Result<void> set(Settings& settings, const std::string& key, const SettingValue& value);
/// Whether there can be a door of this name with these settings, as far as can be told without
/// opening it. An error names the key that is wrong.
Result<void> check(const std::string& name, const Settings& settings);

/// The kinds of doors that this program has.
const std::vector<std::string>& kinds();

}  // namespace gorgo::doors
