#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "doors/door.hpp"
#include "doors/payload.hpp"
#include "doors/settings.hpp"
#include "gorgo/diagnostics.hpp"

namespace gorgo::doors {

/// The doors that a key is for, by the way that events take.
enum class Way : std::uint8_t { both, in, out };

/// A key that doors take.
struct Key {
  std::string_view name;
  Way way;
  SettingValue form;  ///< any value of the type that it takes
  std::function<void(Settings&, const SettingValue&)> set;
};

template <class T>
Key key(std::string_view name, Way way, T Settings::*member) {
  return {name, way, T(), [member](Settings& settings, const SettingValue& value) {
            settings.*member = std::get<T>(value);
          }};
}

/// A key that says how events are written down.
template <class T>
Key form_key(std::string_view name, T codec::TextForm::*member) {
  return {name, Way::in, T(), [member](Settings& settings, const SettingValue& value) {
            settings.form.*member = std::get<T>(value);
          }};
}

/// What doors of one kind lead to: all that the rest of the program knows of it.
struct Kind {
  std::string_view name;
  /// Those of its own. A key that several kinds take is the same member for all.
  std::vector<Key> keys;
  bool has_payloads = true;  ///< the keys apply by which payloads become events
  /// Payloads are the lines of a text, the first of which is a header of CSV.
  bool has_lines = false;
  std::string Settings::*target;
  /// Whether the values of its own keys are right.
  Result<void> (*check)(const Settings&);
  /// What one door alone can have, such as the port that it listens on, as messages name it. Null:
  /// there is nothing.
  std::string (*exclusive)(const Settings&) = nullptr;
  /// Null: no events come in. The source goes on behind `position`. Precondition: `check` found
  /// nothing wrong, as for `make_sink`. An error: something that it needs cannot be read.
  Result<std::unique_ptr<Source>> (*make_source)(const std::string& door, const Settings&,
                                                 const Types&, const Position&) = nullptr;
  /// Null: no events leave.
  Result<std::unique_ptr<Sink>> (*make_sink)(const std::string& door, const Settings&) = nullptr;
};

/// The kinds of doors that this program has.
const std::vector<Kind>& kinds();
/// Null: there is no such kind.
const Kind* find_kind(std::string_view name);

Kind file_kind();
Kind http_kind();
Kind kafka_kind();
Kind mqtt_kind();
Kind mqtt_listener_kind();
Kind nats_kind();
Kind postgres_kind();
Kind stdin_kind();
Kind syslog_kind();

/// Whether `from` says where to begin.
Result<void> check_from(const Settings& settings);
/// Whether there is a password for a user, and a user for a password.
Result<void> check_user(const Settings& settings);

}  // namespace gorgo::doors
