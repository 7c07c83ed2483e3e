#include "actions/settings.hpp"

#include <algorithm>
#include <functional>
#include <string_view>

#include "actions/matcher.hpp"
#include "doors/kind.hpp"
#include "doors/shown.hpp"
#include "language/action_kinds.hpp"

namespace gorgo::actions {
namespace {

constexpr std::int64_t kYear = std::int64_t{366} * 24 * 3'600'000;  // milliseconds
constexpr std::string_view kInhibit = "inhibit.";

struct Key {
  std::string_view name;
  std::string_view kinds;  ///< of the targets that it is for; empty: all
  SettingValue form;       ///< any value of the type that it takes
  std::function<void(Settings&, const SettingValue&)> set;
};

template <class T>
Key key(std::string_view name, std::string_view kinds, T Settings::*member) {
  return {name, kinds, T(), [member](Settings& settings, const SettingValue& value) {
            settings.*member = std::get<T>(value);
          }};
}

const std::vector<Key>& keys() {
  static const std::vector<Key> all = {key("kind", "", &Settings::kind),
                                       key("url", "webhook", &Settings::url),
                                       key("secret_file", "webhook", &Settings::secret_file),
                                       key("ca", "webhook, mail, sql", &Settings::ca),
                                       key("server", "mail", &Settings::server),
                                       key("from", "mail", &Settings::from),
                                       key("recipients", "mail", &Settings::recipients),
                                       key("subject", "mail", &Settings::subject),
                                       key("starttls", "mail", &Settings::starttls),
                                       key("user", "mail", &Settings::user),
                                       key("password_file", "mail, sql", &Settings::password_file),
                                       key("headers", "webhook", &Settings::headers),
                                       key("command", "command", &Settings::command),
                                       key("path", "file", &Settings::path),
                                       key("statement", "sql", &Settings::statement),
                                       key("to", "publish", &Settings::to),
                                       key("deadline_ms", "", &Settings::deadline_ms),
                                       key("timeout_ms", "", &Settings::timeout_ms),
                                       key("in_flight", "", &Settings::in_flight),
                                       key("per_minute", "", &Settings::per_minute),
                                       key("group_by", "", &Settings::group_by),
                                       key("group_ms", "", &Settings::group_ms),
                                       key("dry_run", "", &Settings::dry_run)};
  return all;
}

bool is_name(std::string_view text) {
  constexpr std::size_t kLongest = 64;
  const auto fits = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-';
  };
  return !text.empty() && text.size() <= kLongest && std::ranges::all_of(text, fits);
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

Result<void> check_webhook(const Settings& settings) {
  const bool is_web = settings.url.starts_with("https://") || settings.url.starts_with("http://");
  if (!is_web || settings.url.find_first_of(" \t\r\n") != std::string::npos) {
    return Error{"url: no address of a web server", "url = \"https://hooks.example.org/gorgo\""};
  }
  for (const auto& [name, value] : settings.headers) {
    const bool is_name = !name.empty() && name.find_first_of(": \t\r\n") == std::string::npos;
    if (!is_name || value.find_first_of("\r\n") != std::string::npos) {
      return Error{"headers: '" + name + "' is no header with a value of one line",
                   "headers = { Authorization = \"Bearer ...\" }"};
    }
  }
  return {};
}

Result<void> check_mail(const Settings& settings) {
  const bool is_mail =
      settings.server.starts_with("smtp://") || settings.server.starts_with("smtps://");
  if (!is_mail || settings.server.find_first_of(" \t\r\n") != std::string::npos) {
    return Error{"server: no address of a mail server", "server = \"smtp://127.0.0.1:25\""};
  }
  if (settings.server.find('@') != std::string::npos) {
    return Error{"server: the user does not stand in the address", "write user and password_file"};
  }
  const auto is_address = [](const std::string& text) {
    const std::size_t at = text.find('@');
    return at != 0 && at != text.npos && at + 1 < text.size() &&
           std::ranges::all_of(text, [](char c) {
             return c > ' ' && c <= '~' && c != '<' && c != '>' && c != ',';
           });
  };
  if (!is_address(settings.from)) {
    return Error{"from: no address of mail", "from = \"gorgo@example.org\""};
  }
  if (settings.recipients.empty() || !std::ranges::all_of(settings.recipients, is_address)) {
    return Error{"recipients: expected addresses of mail", "recipients = [\"ops@example.org\"]"};
  }
  if (settings.user.empty() == settings.password_file.empty()) return {};
  return Error{"user and password_file go together", "give both or neither"};
}

/// Nobody but the configuration says which program it is: no path is looked for.
Result<void> check_command(const Settings& settings) {
  if (!settings.command.empty() && settings.command.front().starts_with('/')) return {};
  return Error{"command: no program is named by its whole path",
               "command = [\"/usr/local/bin/page\", \"{area}\"]"};
}

Result<void> check_publish(const std::string& name, doors::Settings sink, const std::string& to) {
  auto made = doors::set(sink, "kind", to);
  if (made) made = doors::set(sink, "subscribe", std::string("*"));
  if (made) made = doors::check(name, sink);
  if (made && sink.fenced) made = Error{"fenced: actions do not come in order", "leave it out"};
  if (made) return {};
  // The door stands in the target's table, not in one of its own.
  const std::string prefix = "doors." + name + ": ";
  std::string message = made.error().message;
  if (message.starts_with(prefix)) message.erase(0, prefix.size());
  for (const std::string key : {"kind: ", "subscribe: "}) {
    if (message.starts_with(key)) message.replace(0, key.size(), "to: ");
  }
  return Error{message, made.error().hint};
}

Result<void> check_sql(const Settings& settings) {
  if (settings.statement.empty()) {
    return Error{"statement: it is not said what is executed",
                 "statement = \"insert into fires (area) values ({area})\""};
  }
  doors::Settings database = settings.sink;
  database.table = settings.keys_table();
  return doors::find_kind("postgres")->check(database);
}

Result<void> check_kind(const std::string& name, const Settings& settings) {
  if (settings.kind == "webhook") return check_webhook(settings);
  if (settings.kind == "mail") return check_mail(settings);
  if (settings.kind == "command") return check_command(settings);
  if (settings.kind == "sql") return check_sql(settings);
  if (settings.kind == "publish") return check_publish(name, settings.sink, settings.to);
  if (settings.path.empty()) return Error{"path: no file is named", "path = \"/var/log/fires\""};
  return {};
}

Result<void> check_numbers(const Settings& settings) {
  constexpr std::int64_t kMostFlying = 256;
  if (settings.in_flight < 1 || settings.in_flight > kMostFlying) {
    return Error{"in_flight: expected a number, 1 to 256", ""};
  }
  if (settings.deadline_ms < 1 || settings.deadline_ms > kYear) {
    return Error{"deadline_ms: expected a number, 1 to 31622400000", ""};
  }
  if (settings.per_minute < 0 || settings.per_minute > 1'000'000) {
    return Error{"per_minute: expected a number, 0 to 1000000", ""};
  }
  if (settings.group_ms < 0 || settings.group_ms >= settings.deadline_ms) {
    return Error{"group_ms: expected a number, 0 or more and below deadline_ms", ""};
  }
  if (!settings.group_by.empty() && settings.group_ms == 0) {
    return Error{"group_by: it is not said how long a group waits", "group_ms = 30000"};
  }
  if (settings.group_ms > 0 && (settings.is_ordered() || settings.kind == "sql")) {
    return Error{"group_ms: events go to targets of kind " + settings.kind + " one by one",
                 "leave it out"};
  }
  if (settings.timeout_ms < 1 || settings.timeout_ms > 3'600'000) {
    return Error{"timeout_ms: expected a number, 1 to 3600000", ""};
  }
  return {};
}

Result<void> check_inhibition(const Inhibition& inhibition) {
  if (inhibition.source.empty()) {
    return Error{"source: it is not said which events inhibit others", "source = [\"type=Fire\"]"};
  }
  if (inhibition.target.empty()) {
    return Error{"target: it is not said which events are inhibited", "target = [\"type=Smoke\"]"};
  }
  if (inhibition.for_ms < 1 || inhibition.for_ms > kYear) {
    return Error{"for_ms: expected a number, 1 to 31622400000", "for_ms = 600000"};
  }
  for (const auto& [key, matchers] :
       {std::pair("source: ", inhibition.source), std::pair("target: ", inhibition.target)}) {
    if (auto checked = check(matchers); !checked) {
      return Error{key + checked.error().message, checked.error().hint};
    }
  }
  return {};
}

Result<void> check_inhibitions(const Settings& settings) {
  for (const auto& [name, inhibition] : settings.inhibit) {
    if (auto checked = check_inhibition(inhibition); !checked) {
      return Error{std::string(kInhibit) + name + "." + checked.error().message,
                   checked.error().hint};
    }
  }
  return {};
}

Result<void> check_name(const std::string& name) {
  if (is_name(name)) return {};
  return Error{"the name of a target has 1 to 64 letters, digits, - and _", "[actions.ops-1]"};
}

Result<void> check_keys(const Settings& settings) {
  if (language::find_action_kind(settings.kind) == nullptr) {
    std::string known;
    for (const std::string& kind : language::action_names())
      known += (known.empty() ? "" : ", ") + kind;
    return Error{settings.kind.empty()
                     ? "kind: it is not said what is done"
                     : "kind: this program has no actions of kind '" + settings.kind + "'",
                 "one of " + known};
  }
  for (const auto& [name, value] : settings.given) {
    if (name.starts_with(kInhibit)) continue;
    const Key* const key = find_key(name);
    const std::string_view of = key == nullptr ? "publish" : key->kinds;
    const bool is_of_sink = settings.kind == "publish" ||
                            (settings.kind == "sql" && (name == "database" || name == "table"));
    const bool fits = of.empty() || of.find(settings.kind) != of.npos ||
                      (is_of_sink && settings.sink.given.contains(name));
    if (!fits) {
      return Error{name + " is for targets of kind " + std::string(of), "leave it out"};
    }
  }
  return {};
}

/// Sets `inhibit.NAME.KEY`.
Result<void> set_inhibition(Settings& settings, const std::string& name,
                            const SettingValue& value) {
  using Names = std::vector<std::string>;
  const std::size_t dot = name.rfind('.');
  const std::string key = name.substr(dot + 1);
  const std::string of =
      dot < kInhibit.size() ? "" : name.substr(kInhibit.size(), dot - kInhibit.size());
  const bool is_list = key == "source" || key == "target" || key == "equal";
  if (!is_name(of) || (!is_list && key != "for_ms")) {
    return Error{name + ": unknown key",
                 "a table inhibit.NAME has the keys source, target, equal and for_ms"};
  }
  Inhibition& inhibition = settings.inhibit[of];
  if (const auto* number = std::get_if<std::int64_t>(&value); number != nullptr && !is_list) {
    inhibition.for_ms = *number;
    return {};
  }
  const auto* const list = std::get_if<Names>(&value);
  if (list == nullptr || !is_list) {
    return Error{name + ": expected " + (is_list ? "a list of strings" : "a number"), ""};
  }
  Names& names = key == "source"   ? inhibition.source
                 : key == "target" ? inhibition.target
                                   : inhibition.equal;
  names = *list;
  return {};
}

}  // namespace

std::string Settings::address() const {
  if (kind == "webhook") return doors::without_secrets(url);
  if (kind == "mail") return server;
  if (kind == "command") return command.empty() ? "" : command.front();
  if (kind == "file") return path;
  if (kind == "sql") return std::get<std::string>(doors::shown("database", sink.database));
  return sink.target();
}

Result<void> set(Settings& settings, const std::string& name, const SettingValue& value) {
  if (name.starts_with(kInhibit)) {
    auto done = set_inhibition(settings, name, value);
    if (done) settings.given[name] = value;
    return done;
  }
  const Key* const key = find_key(name);
  // What the table says of the door that events are published through.
  const auto of_door =
      name == "kind" ? Result<void>(Error{}) : doors::set(settings.sink, name, value);
  if (key == nullptr && !of_door) {
    std::vector<std::string> names;
    for (const Key& known : keys()) names.emplace_back(known.name);
    const std::string nearest(closest_name(name, names));
    return Error{
        name + ": unknown key" + (nearest.empty() ? "" : ", did you mean '" + nearest + "'?"),
        "docs/actions.md lists the keys of targets"};
  }
  if (key != nullptr && value.index() != key->form.index()) {
    return Error{name + ": expected " + std::string(type_of(key->form)), ""};
  }
  if (key != nullptr) key->set(settings, value);
  if (name == "to") {
    settings.sink.kind = settings.to;
    settings.sink.subscribe = "*";
  }
  settings.given[name] = value;
  return {};
}

Result<void> check(const std::string& name, const Settings& settings) {
  auto checked = check_name(name);
  if (checked) checked = check_keys(settings);
  if (checked) checked = check_kind(name, settings);
  if (checked) checked = check_numbers(settings);
  if (checked) checked = check_inhibitions(settings);
  if (checked) return {};
  return Error{"actions." + name + ": " + checked.error().message, checked.error().hint};
}

}  // namespace gorgo::actions
