#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "gorgo/diagnostics.hpp"
#include "server/options.hpp"

namespace gorgo::server {

/// What a key of the configuration may be set to.
using ConfigValue = std::variant<bool, std::int64_t, std::string, std::vector<std::string>,
                                 std::map<std::string, std::string>>;

/// A key of the configuration: what it is called, what it means, and which option it is.
struct ConfigKey {
  std::string section = {};  ///< empty: the key stands before all sections
  std::string name;
  std::string about;           ///< for people; a few words
  ConfigValue form;            ///< any value of the type that it takes
  std::string expected = {};   ///< which values; empty: all of that type
  bool takes_numbers = false;  ///< a text that may be written as a number
  bool is_live = false;        ///< a running server takes it over
  /// Sets the option. Precondition: the value has the type of `form`. An error says what is wrong
  /// with it.
  std::function<Result<void>(ServerOptions&, const ConfigValue&)> set;
  /// The option's value; unset where nobody has set it, so that the environment decides.
  std::function<std::optional<ConfigValue>(const ServerOptions&)> get;

  /// As people name it: "limits.max_rows".
  std::string full_name() const { return section.empty() ? name : section + "." + name; }
  /// The environment variable that overrides it: "GORGO__LIMITS__MAX_ROWS".
  std::string variable() const;
};

/// All keys, section by section. Any thread may call.
const std::vector<ConfigKey>& config_keys();
/// Null: there is no such key.
const ConfigKey* find_config_key(std::string_view section, std::string_view name);

/// A key that has different values in two configurations.
struct ConfigChange {
  const ConfigKey* key;
  std::string before, after;  ///< as TOML; empty: unset

  /// "limits.max_rows: 10 -> 20", for people.
  std::string to_string() const;
};
std::vector<ConfigChange> changes_between(const ServerOptions& before, const ServerOptions& after);

/// A value as the text of an environment variable says it, or an error that says what is expected.
/// A list is written as in TOML, or is one text; a table is written as in TOML.
Result<ConfigValue> parse_config_value(const ConfigKey& key, const std::string& text);
/// The value as TOML.
std::string toml_text(const ConfigValue& value);
/// "expected a string", for an error about a value of another type.
std::string expectation_of(const ConfigKey& key);

}  // namespace gorgo::server
