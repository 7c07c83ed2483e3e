#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "codec/text_form.hpp"
#include "gorgo/diagnostics.hpp"

namespace gorgo::doors {

/// What a key of a door may be set to.
using SettingValue = std::variant<bool, std::int64_t, std::string, std::vector<std::string>,
                                  std::map<std::string, std::string>>;

/// A door as the configuration has it. docs/doors.md says what each key means, and the kinds of
/// doors (kind.hpp) which of them they take.
struct Settings {
  std::string kind;

  /// The subscription whose events leave through the door; empty: events come in.
  std::string subscribe;

  // How payloads become events.
  std::string format = "events";  ///< or "json", "csv"
  codec::TextForm form;
  std::vector<std::string> columns;  ///< of CSV without a header

  std::string path;                ///< of a file; a source takes a pattern
  std::string from = "beginning";  ///< where a source begins that was never read; or "end"

  std::string broker;               ///< HOST:PORT, of some kinds several with commas between
  std::vector<std::string> topics;  ///< of a source: "sensors/{area}/{type}"
  std::string topic;                ///< of a sink: "alarms/{type}"
  std::string stream;               ///< of JetStream; empty: subjects without one
  bool fenced = false;              ///< the door alone writes to the stream
  std::string protocol = "5";       ///< of MQTT; or "3.1.1"
  std::string client_id;
  std::string user;
  std::string password_file;
  std::int64_t max_in_flight = 200;               ///< messages that are not acknowledged yet
  std::string ca;                                 ///< PEM; set: the broker speaks TLS
  std::string message_key;                        ///< the attribute that Kafka divides events by
  std::map<std::string, std::string> properties;  ///< of librdkafka

  std::string listen;                        ///< HOST:PORT where others come
  std::string certificate, certificate_key;  ///< PEM; set: whoever comes speaks TLS
  std::string transport = "udp";             ///< or "tcp"
  std::string time = "arrival";              ///< whose time an event has; or "message"

  std::string url;
  std::int64_t every = 60;  ///< seconds between two requests

  std::string database;  ///< a connection string of PostgreSQL
  std::string table;

  /// All keys that were given, by name. Doors with the same ones are the same.
  std::map<std::string, SettingValue> given;

  bool is_sink() const { return !subscribe.empty(); }
  /// The file or broker, for people.
  std::string target() const;

  friend bool operator==(const Settings& a, const Settings& b) { return a.given == b.given; }
};

/// Doors by name.
using Doors = std::map<std::string, Settings>;

/// Sets a key. An error: there is no such key, or the value is none that it takes.
Result<void> set(Settings& settings, const std::string& key, const SettingValue& value);
/// The password that stands in `password_file`, without the end of its line.
Result<std::string> password_of(const Settings& settings);
/// Whether there can be a door of this name with these settings, as far as can be told without
/// opening it. An error names the key that is wrong.
Result<void> check(const std::string& name, const Settings& settings);
/// Whether these doors can be open together.
Result<void> check(const Doors& doors);

}  // namespace gorgo::doors
