#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace gorgo::server {

// What doors and targets of actions have in common.

/// Those that work, by name, each on a thread of its own.
template <class Runner>
using Runners = std::map<std::string, std::unique_ptr<Runner>>;

/// All are told first, so that they end at the same time.
template <class Runner>
void stop_all(Runners<Runner>& runners) {
  for (const auto& [name, runner] : runners) runner->stop();
  runners.clear();
}

/// Has each take what the engine has for it, and end.
template <class Runner>
void finish_all(Runners<Runner>& runners) {
  for (const auto& [name, runner] : runners) runner->finish();
  for (const auto& [name, runner] : runners) runner->join();
  runners.clear();
}

/// What an operator is told changes of the tables `[SECTION.NAME]`: `doors.plant: changed`.
template <class Settings>
std::map<std::string, std::string> differences(const std::string& section,
                                               const std::map<std::string, Settings>& before,
                                               const std::map<std::string, Settings>& after) {
  std::map<std::string, std::string> found;
  const auto tell = [&](const std::string& name, const char* what) {
    found[name] = section + "." + name + ": " + what;
  };
  for (const auto& [name, settings] : before) {
    if (!after.contains(name)) tell(name, "removed");
  }
  for (const auto& [name, settings] : after) {
    const auto known = before.find(name);
    if (known == before.end()) tell(name, "added");
    if (known != before.end() && known->second != settings) tell(name, "changed");
  }
  return found;
}

}  // namespace gorgo::server
