#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "doors/settings.hpp"
#include "gorgo/diagnostics.hpp"

/// What a server does when a rule has detected something, beside telling subscribers.
/// docs/actions.md
namespace gorgo::actions {

using SettingValue = doors::SettingValue;

/// For a while behind an event that matches `source`, nothing is done about those that match
/// `target` and agree with it in the attributes `equal`.
struct Inhibition {
  std::vector<std::string> source;
  std::vector<std::string> target;
  std::vector<std::string> equal;
  std::int64_t for_ms = 0;
};

/// A target of actions as the configuration has it. docs/actions.md says what each key means.
struct Settings {
  std::string kind;  ///< one of `language::action_names()`

  std::string url;  ///< of a webhook
  std::string secret_file;
  std::string ca;
  std::map<std::string, std::string> headers;

  std::string server;  ///< of a mail: smtp:// or smtps://
  std::string from;
  std::vector<std::string> recipients;
  std::string subject = "{type}";
  std::string user;
  std::string password_file;
  bool starttls = false;  ///< the connection is to become one with TLS

  std::vector<std::string> command;  ///< a program and its arguments

  std::string path;  ///< of a file

  std::string statement;  ///< of SQL; the database stands in `sink`

  std::string to;        ///< the kind of door that events are published through
  doors::Settings sink;  ///< that door

  std::int64_t deadline_ms = 3'600'000;  ///< an event that waits longer is given up
  std::int64_t timeout_ms = 10'000;      ///< of one attempt
  std::int64_t in_flight = 8;            ///< attempts at the same time
  std::int64_t per_minute = 0;           ///< orders, what is more waits; 0: no limit
  std::vector<std::string> group_by;     ///< attributes that events of one order share
  std::int64_t group_ms = 0;  ///< how long an order waits for further events; 0: no groups
  bool dry_run = false;       ///< nothing is carried out, only counted
  std::map<std::string, Inhibition> inhibit;  ///< by name

  /// All keys that were given, by name. Targets with the same ones are the same.
  std::map<std::string, SettingValue> given;

  /// Whether events leave in their order: they do where several leave at once.
  bool is_ordered() const { return kind == "file" || kind == "publish"; }
  /// The address, the program or the file, for people, who read no secret in it.
  std::string address() const;
  /// Where a database has the keys of orders that are done.
  std::string keys_table() const { return sink.table.empty() ? "gorgo_actions" : sink.table; }
  /// As rules name it: `webhook("ops")`.
  std::string text(const std::string& name) const { return kind + "(\"" + name + "\")"; }

  friend bool operator==(const Settings& a, const Settings& b) { return a.given == b.given; }
};

/// Targets by name.
using Targets = std::map<std::string, Settings>;

/// Sets a key. An error: there is no such key, or the value is none that it takes.
Result<void> set(Settings& settings, const std::string& key, const SettingValue& value);
/// Whether there can be a target of this name with these settings, as far as can be told without
/// going there. An error names the key that is wrong.
Result<void> check(const std::string& name, const Settings& settings);

}  // namespace gorgo::actions
