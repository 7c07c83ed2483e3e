#include "server/rules/rule_history.hpp"

#include "protocol/info.hpp"
#include "server/security/permissions.hpp"

namespace gorgo::server {
namespace {

bool is_about(const RuleHistory::Entry& entry, std::string_view name) {
  if (name.empty() || entry.name == name || stem_of(entry.name) == name) return true;
  // The removal of a rule is about its deployment, too.
  return entry.text.empty() && stem_of(entry.name) == stem_of(name);
}

}  // namespace

protocol::Bytes history_reply(std::uint64_t id, const RuleHistory& history, const User* user,
                              const wire::AskHistory& request) {
  constexpr std::size_t kBytesOfPart = std::size_t{256} << 10;
  const std::string name = protocol::text_of(request.name());
  wire::HistoryT reply;
  std::size_t bytes = 0;
  for (const RuleHistory::Entry& entry : history.entries()) {
    const bool is_seen = user == nullptr || user->deployments.allows(stem_of(entry.name));
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
