#pragma once

#include <cstdint>
#include <string>

#include "server/actions/inhibitions.hpp"
#include "server/command.hpp"
#include "server/durability/durable_subscriptions.hpp"
#include "server/durability/engine_clock.hpp"
#include "server/durability/journal_writer.hpp"
#include "server/subscriptions/subscription_counts.hpp"
#include "server/subscriptions/subscriptions.hpp"

namespace gorgo::server {

/// What clients ask about subscriptions, durable ones included. Each request queues its reply.
/// Belongs to the engine thread.
class SubscriptionRequests {
 public:
  struct Parts {
    Processor& processor;
    EngineClock& clock;
    JournalWriter& journal;
    Subscriptions& subscriptions;
    DurableSubscriptions& durables;
    SubscriptionCounts& counts;
    Inhibitions& inhibitions;
  };
  explicit SubscriptionRequests(const Parts& parts) : parts_(parts) {}

  /// Whether the user may subscribe to the type that the text names.
  Result<void> check_user(const User& user, const wire::Subscribe& request) const;
  void subscribe(const Command& command, std::uint64_t id, const wire::Subscribe& request);
  void unsubscribe(Outbox& client, std::uint64_t id, const wire::Unsubscribe& request);
  void grant(Outbox& client, std::uint64_t id, const wire::Credit& request);
  void acknowledge(const Command& command, std::uint64_t id, const wire::Acknowledge& request);
  void end_durable(const Command& command, std::uint64_t id, const wire::EndDurable& request);
  void list_durables(const Command& command, std::uint64_t id) const;
  /// The client has gone.
  void forget(Outbox& client);

 private:
  const Parts parts_;

  void subscribe_durable(const Command& command, std::uint64_t id, const wire::Subscribe& request);
  /// Whether the user may have this durable subscription.
  Result<void> check_owner(const UserPtr& user, const std::string& name) const;
  /// Whether the durable subscription may be changed, and the journal can keep that. False: the
  /// client was told.
  bool may_change(const Command& command, std::uint64_t id, const std::string& name);
};

}  // namespace gorgo::server
