#include "actions/settings.hpp"

#include <algorithm>
#include <functional>
#include <string_view>

#include "doors/shown.hpp"
#include "language/action_kinds.hpp"

namespace gorgo::actions {
namespace {

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
                                       key("ca", "webhook, mail", &Settings::ca),
                                       key("server", "mail", &Settings::server),
                                       key("from", "mail", &Settings::from),
                                       key("recipients", "mail", &Settings::recipients),
                                       key("subject", "mail", &Settings::subject),
                                       key("starttls", "mail", &Settings::starttls),
                                       key("user", "mail", &Settings::user),
                                       key("password_file", "mail", &Settings::password_file),
                                       key("headers", "webhook", &Settings::headers),
                                       key("command", "command", &Settings::command),
                                       key("path", "file", &Settings::path),
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

Result<void> check_kind(const std::string& name, const Settings& settings) {
  if (settings.kind == "webhook") return check_webhook(settings);
  if (settings.kind == "mail") return check_mail(settings);
  if (settings.kind == "command") return check_command(settings);
  if (settings.kind == "publish") return check_publish(name, settings.sink, settings.to);
  if (settings.path.empty()) return Error{"path: no file is named", "path = \"/var/log/fires\""};
  return {};
}

Result<void> check_numbers(const Settings& settings) {
  constexpr std::int64_t kMostFlying = 256, kYear = std::int64_t{366} * 24 * 3'600'000;
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
  if (settings.group_ms > 0 && settings.is_ordered()) {
    return Error{"group_ms: events go to targets of kind " + settings.kind + " one by one",
                 "leave it out"};
  }
  if (settings.timeout_ms < 1 || settings.timeout_ms > 3'600'000) {
    return Error{"timeout_ms: expected a number, 1 to 3600000", ""};
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
  return Error{"the name of a target has 1 to 64 letters, digits, - and _", "[actions.ops-1]"};
}

Result<void> check_keys(const Settings& settings) {
  const auto& kinds = language::action_kinds();
  if (std::ranges::find(kinds, settings.kind) == kinds.end()) {
    std::string known;
    for (const std::string& kind : kinds) known += (known.empty() ? "" : ", ") + kind;
    return Error{settings.kind.empty()
                     ? "kind: it is not said what is done"
                     : "kind: this program has no actions of kind '" + settings.kind + "'",
                 "one of " + known};
  }
  for (const auto& [name, value] : settings.given) {
    const Key* const key = find_key(name);
    const std::string_view of = key == nullptr ? "publish" : key->kinds;
    const bool fits = of.empty() || of.find(settings.kind) != of.npos ||
                      (settings.kind == "publish" && settings.sink.given.contains(name));
    if (!fits) {
      return Error{name + " is for targets of kind " + std::string(of), "leave it out"};
    }
  }
  return {};
}

}  // namespace

std::string Settings::address() const {
  if (kind == "webhook") return doors::without_secrets(url);
  if (kind == "mail") return server;
  if (kind == "command") return command.empty() ? "" : command.front();
  if (kind == "file") return path;
  return sink.target();
}

Result<void> set(Settings& settings, const std::string& name, const SettingValue& value) {
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
  if (checked) return {};
  return Error{"actions." + name + ": " + checked.error().message, checked.error().hint};
}

}  // namespace gorgo::actions
