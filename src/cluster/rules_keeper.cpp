#include "cluster/rules_keeper.hpp"

#include <algorithm>
#include <chrono>

#include "cluster/names.hpp"
#include "cluster/sender.hpp"

namespace gorgo::cluster {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;
/// A deployment tells partitions by itself once all gateways follow it, which takes a few seconds.
/// One that has rules goes on with them meanwhile; one without has nothing to go on with.
constexpr std::int64_t kWithRules = 60 * kSecond, kWithout = 10 * kSecond;
/// What a stream keeps has the rules in force from its first quarter on.
constexpr std::int64_t kShare = 4;
constexpr std::chrono::seconds kSendPatience{5};

}  // namespace

bool RulesKeeper::is_due(const PartitionName& name, const Partition::State& state,
                         const Deployment& deployment, std::int64_t now) {
  const auto told = told_.find(name);
  const std::int64_t since_told = told == told_.end() ? now : now - told->second;
  if (state.rules_version < deployment.version) {
    const auto since = behind_since_.try_emplace(name, now).first->second;
    return since_told > kWithout &&
           now - since >= (state.rules_version == 0 ? kWithout : kWithRules);
  }
  behind_since_.erase(name);
  const std::int64_t kept = deployment.retained();
  return kept > 0 && state.rules_version == deployment.version &&
         std::min(since_told, now - state.rules_at) > kept / kShare;
}

std::vector<PartitionName> RulesKeeper::due(const Deployment& deployment, const States& states,
                                            std::int64_t now) {
  std::vector<PartitionName> all;
  for (const auto& [name, state] : states) {
    const bool owns = state.role == Role::owner && state.is_publishing && state.has_caught_up;
    if (!owns || deployment.plan.find(name.family) == nullptr) {
      behind_since_.erase(name);
    } else if (is_due(name, state, deployment, now)) {
      told_[name] = now;
      all.push_back(name);
    }
  }
  return all;
}

Result<void> RulesKeeper::look(const doors::nats::Connection& connection,
                               const Deployment& deployment, const States& states) {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  std::vector<StreamMessage> messages;
  for (const PartitionName& name : due(deployment, states, std::chrono::nanoseconds(now).count())) {
    const std::string json = deployment.rules_of(*deployment.plan.find(name.family)).to_json();
    messages.push_back({.subject = input_subject(cluster_, name.family, name.number),
                        .headers = {{kRulesHeader, std::to_string(deployment.version)}},
                        .payload = {json.begin(), json.end()}});
  }
  if (messages.empty()) return {};
  Sender sender;
  if (auto opened = sender.open(connection.get()); !opened) return opened;
  const auto until = std::chrono::steady_clock::now() + kSendPatience;
  auto sent = sender.send(messages, [&] { return std::chrono::steady_clock::now() > until; });
  sender.close();
  return sent;
}

}  // namespace gorgo::cluster
