#pragma once

#include <algorithm>
#include <string>
#include <vector>

namespace gorgo::language {

/// What stands before the brackets of an action, and what is done then, for people.
struct ActionKind {
  std::string name;
  std::string says;
};

inline const std::vector<ActionKind>& action_kinds() {
  static const std::vector<ActionKind> all = {
      {"webhook", "posts the event to a web server, signed"},
      {"mail", "sends a mail with the event"},
      {"publish", "has the event leave through a door, such as a broker"},
      {"command", "runs a program that the configuration allows"},
      {"file", "appends the event to a file"},
      {"sql", "executes a statement in a database"}};
  return all;
}

inline std::vector<std::string> action_names() {
  std::vector<std::string> names;
  for (const ActionKind& kind : action_kinds()) names.push_back(kind.name);
  return names;
}

/// Null: there is no such kind.
inline const ActionKind* find_action_kind(const std::string& name) {
  const auto found = std::ranges::find(action_kinds(), name, &ActionKind::name);
  return found == action_kinds().end() ? nullptr : &*found;
}

}  // namespace gorgo::language
