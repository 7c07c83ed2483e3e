#include "tools/known_types.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "language/server_types.hpp"
#include "tools/output.hpp"

namespace gorgo::tools {
namespace {

/// The types that the server's rules read or bring about, and those of its own events. Nothing: it
/// does not tell this user.
std::vector<std::string> known_types(Client& client) {
  std::vector<std::string> names;
  const auto types = client.types();
  const auto rules = client.rules();
  if (!types || !rules) return names;
  for (const TypeInfo& type : *types) {
    if (!type.is_unread) names.push_back(type.name);
  }
  for (const RuleInfo& rule : *rules) names.push_back(rule.type);
  if (names.empty()) return names;
  for (const EventType& own : language::server_types()) names.push_back(own.name);
  return names;
}

}  // namespace

void note_unknown_type(Client& client, std::string_view text) {
  const std::string name(text.substr(0, text.find_first_of(" \t(")));
  if (name.empty() || name == "*") return;
  const auto known = known_types(client);
  if (known.empty() || std::ranges::find(known, name) != known.end()) return;
  const std::string nearest(closest_name(name, known));
  note("no rule of the server knows the type '" + name + "'" +
       (nearest.empty() ? "" : ", did you mean '" + nearest + "'?"));
}

}  // namespace gorgo::tools
