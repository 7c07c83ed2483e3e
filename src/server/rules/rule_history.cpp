#include "server/rules/rule_history.hpp"

#include "protocol/info.hpp"
#include "server/security/permissions.hpp"

namespace gorgo::server {
namespace {

/// The deployment that was changed.
const std::string& changed(const RuleHistory::Entry& entry) {
  return entry.deployment.empty() ? entry.name : entry.deployment;
}

bool is_about(const RuleHistory::Entry& entry, std::string_view name) {
  if (name.empty() || entry.name == name || stem_of(entry.name) == name) return true;
  if (!entry.text.empty()) return false;
  // The removal of a rule is about its deployment, too. A rule without a name of its own has that
  // of its deployment in front.
  if (entry.deployment.empty()) return stem_of(entry.name) == stem_of(name);
  return entry.deployment == name || stem_of(entry.deployment) == name;
}

}  // namespace

protocol::Bytes history_reply(std::uint64_t id, const RuleHistory& history, const User* user,
                              const wire::AskHistory& request) {
  constexpr std::size_t kBytesOfPart = std::size_t{256} << 10;
  const std::string name = protocol::text_of(request.name());
  wire::HistoryT reply;
  std::size_t bytes = 0;
  for (const RuleHistory::Entry& entry : history.entries()) {
    const bool is_seen = user == nullptr || user->deployments.allows(stem_of(changed(entry)));
    if (entry.number <= request.after() || !is_seen || !is_about(entry, name)) continue;
    if (bytes >= kBytesOfPart) {
      reply.more = true;
      break;
    }
    reply.list.push_back(as_table<wire::HistoryEntryT>(entry));
    bytes += entry.text.size() + entry.name.size() + 64;
  }
  return protocol::encode(id, reply);
}

}  // namespace gorgo::server
