#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>
#include <utility>

#include "server/command.hpp"
#include "server/engine/rate_watch.hpp"
#include "server/rules/deployments.hpp"
#include "server/rules/rule_latencies.hpp"

namespace gorgo::server {

/// Tells clients of the rules in force, what these do of late, and of types. A user is told of
/// those that concern it. Each request queues its reply. Belongs to the engine thread.
class RuleListing {
 public:
  struct Parts {
    const Processor& processor;
    const Deployments& deployments;
    const RateWatch& rates;
    const RuleLatencies& latencies;
    std::function<bool(std::string_view type)> is_subscribed;
    std::size_t max_frame;  ///< bytes that a reply may have
  };
  explicit RuleListing(Parts parts) : parts_(std::move(parts)) {}

  void list(const Command& command, std::uint64_t id, const wire::ListRules& request) const;
  void list_types(const Command& command, std::uint64_t id, const wire::ListTypes& request) const;

 private:
  const Parts parts_;

  /// Adds what the rule does of late.
  void add_recent(RuleInfo& rule) const;
  /// A page of the rules in force, or of those that the user may see, from number `from` on.
  protocol::Bytes all_rules(std::uint64_t id, std::uint32_t from) const;
  protocol::Bytes rules_of(const User& user, std::uint64_t id, std::uint32_t from) const;
};

}  // namespace gorgo::server
