#include "server/engine/subscription_requests.hpp"

#include <algorithm>
#include <cctype>
#include <string_view>

#include "server/doors/durable_name.hpp"
#include "server/replies.hpp"
#include "server/security/permissions.hpp"

namespace gorgo::server {
namespace {

namespace stored = journal::stored;

constexpr std::size_t kMostName = 256;  // bytes

Result<void> check_name(const std::string& name) {
  if (!name.empty() && name.size() <= kMostName) return {};
  return Error{"the name of a durable subscription has 1 to 256 bytes", ""};
}

/// The subscriptions of sinks are called so. Users do not matter: without them, and for an admin,
/// every other durable subscription is open, but what a door has not sent must still leave.
bool is_kept_for_doors(const Command& command, std::string_view name) {
  return is_of_server(name) && !command.is_of_door;
}

void forbid(const Command& command, std::uint64_t id, const std::string& name, const char* remedy) {
  command.client->reply(error_reply(
      id, wire::ErrorCode::Forbidden,
      Error{"the durable subscription '" + name + "' is kept for a door or an action of the server",
            remedy}));
}

Result<SlowConsumer> slow_consumer_of(wire::SlowPolicy policy, const Limits& limits) {
  switch (policy) {
    case wire::SlowPolicy::Default:
      return limits.slow_consumer;
    case wire::SlowPolicy::Disconnect:
      return SlowConsumer::disconnect;
    case wire::SlowPolicy::Drop:
      return SlowConsumer::drop;
    case wire::SlowPolicy::Block:
      return SlowConsumer::block;
  }
  return Error{"this server does not know that policy for slow subscribers",
               "use Default, Disconnect, Drop or Block"};
}

/// The type that a subscription begins with; "*" where it begins with no name.
std::string_view first_name(std::string_view text) {
  const auto end = std::ranges::find_if_not(text, [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '_' || c == '.' || c >= 0x80;
  });
  const auto name = text.substr(0, static_cast<std::size_t>(end - text.begin()));
  return name.empty() ? "*" : name;
}

Result<Subscriptions::Manner> manner_of(const wire::Subscribe& request, const User* user,
                                        const Limits& limits) {
  const auto slow = slow_consumer_of(request.slow(), limits);
  if (!slow) return slow.error();
  Subscriptions::Manner manner{.slow = *slow, .patterns = patterns_of(user)};
  if (request.credit_rows()) manner.credit.rows = *request.credit_rows();
  if (request.credit_bytes()) manner.credit.bytes = *request.credit_bytes();
  return manner;
}

}  // namespace

Result<void> SubscriptionRequests::check_user(const User& user,
                                              const wire::Subscribe& request) const {
  if (user.subscribe.allows_all()) return {};
  const std::string text = request.text()->str();
  const auto parsed = Filter::parse(text, parts_.processor.schema(), patterns_of(&user));
  // What is said of a text that is wrong names attributes of the type.
  return check_subscribe(user, parsed.filter ? parsed.filter->type() : first_name(text));
}

void SubscriptionRequests::subscribe(const Command& command, std::uint64_t id,
                                     const wire::Subscribe& request) {
  const auto& client = command.client;
  if (auto may = parts_.counts.check(command.user.get()); !may) {
    client->reply(error_reply(id, wire::ErrorCode::Overloaded, may.error()));
    return;
  }
  if (request.durable() != nullptr) return subscribe_durable(command, id, request);
  const auto manner = manner_of(request, command.user.get(), client->limits());
  if (!manner) {
    client->reply(error_reply(id, wire::ErrorCode::Invalid, manner.error()));
    return;
  }
  const auto added = parts_.subscriptions.add(client, request.subscription(), request.text()->str(),
                                              *manner, parts_.processor.schema());
  if (!added.subscribed) {
    client->reply(error_reply(id, wire::ErrorCode::Invalid, added.subscribed.error()));
  } else if (!added.diagnostics.list.empty()) {
    client->reply(diagnostics_reply(id, added.diagnostics));
  } else {
    parts_.counts.added(*client, command.user.get());
    client->reply(ack(id));
  }
}

void SubscriptionRequests::unsubscribe(Outbox& client, std::uint64_t id,
                                       const wire::Unsubscribe& request) {
  const std::uint32_t subscription = request.subscription();
  if (parts_.subscriptions.remove(client, subscription) ||
      parts_.durables.detach(client, subscription)) {
    parts_.counts.removed(client);
    client.reply(ack(id));
    return;
  }
  client.reply(error_reply(
      id, wire::ErrorCode::NotFound,
      {"this connection has no subscription " + std::to_string(request.subscription()), ""}));
}

void SubscriptionRequests::grant(Outbox& client, std::uint64_t id, const wire::Credit& request) {
  if (client.grant(request.subscription(), request.rows(), request.bytes())) return;
  client.reply(error_reply(id, wire::ErrorCode::NotFound,
                           {"no subscription " + std::to_string(request.subscription()) +
                                " of this connection needs credit",
                            "give the subscription credit of rows or bytes when it begins"}));
}

Result<void> SubscriptionRequests::check_owner(const UserPtr& user, const std::string& name) const {
  const auto owner = parts_.durables.owner_of(name);
  if (!owner) return owner.error();
  if (user == nullptr || user->admin || *owner == user->name) return {};
  return Error{"the durable subscription '" + name + "' is of another user",
               "take a name of your own"};
}

bool SubscriptionRequests::may_change(const Command& command, std::uint64_t id,
                                      const std::string& name) {
  if (const auto may = check_owner(command.user, name); !may) {
    command.client->reply(error_reply(id, wire::ErrorCode::NotFound, may.error()));
    return false;
  }
  if (const auto room = parts_.journal.make_room(name.size()); !room) {
    command.client->reply(error_reply(id, wire::ErrorCode::Overloaded, room.error()));
    return false;
  }
  return true;
}

void SubscriptionRequests::subscribe_durable(const Command& command, std::uint64_t id,
                                             const wire::Subscribe& request) {
  const auto refuse = [&](const Error& why) {
    command.client->reply(error_reply(id, wire::ErrorCode::Invalid, why));
  };
  if (!parts_.journal.is_on()) {
    return refuse({"this server keeps nothing, so a subscription cannot be durable",
                   "subscribe without a name, or start the server with --journal"});
  }
  const std::string name = request.durable()->str();
  if (is_kept_for_doors(command, name)) {
    return forbid(command, id, name, "take a name that begins with neither 'door ' nor 'action '");
  }
  if (command.user != nullptr && parts_.durables.holds_publishers_up()) {
    if (const auto may = check_blocking(*command.user); !may) {
      command.client->reply(error_reply(id, wire::ErrorCode::Forbidden, may.error()));
      return;
    }
  }
  auto allowed = check_name(name);
  if (allowed && parts_.durables.owner_of(name)) allowed = check_owner(command.user, name);
  if (allowed && !parts_.durables.owner_of(name)) {
    const std::size_t has = parts_.durables.count_of(name_of(command.user));
    if (const auto may = parts_.counts.check_durable(command.user.get(), has); !may) {
      command.client->reply(error_reply(id, wire::ErrorCode::Overloaded, may.error()));
      return;
    }
  }
  if (allowed) allowed = parts_.journal.make_room(command.frame.size());
  if (!allowed) return refuse(allowed.error());
  auto begun = parts_.durables.begin(name, request.text()->str(), name_of(command.user),
                                     parts_.processor.schema(), patterns_of(command.user.get()));
  if (!begun.fresh) return refuse(begun.fresh.error());
  if (begun.diagnostics.failed()) {
    command.client->reply(diagnostics_reply(id, begun.diagnostics));
    return;
  }
  if (*begun.fresh) {
    stored::SubscriptionT subscription;
    subscription.name = name;
    subscription.text = request.text()->str();
    subscription.next_root = parts_.processor.roots() + 1;
    subscription.who = name_of(command.user);
    subscription.clock = parts_.clock.now();
    parts_.journal.write<stored::Subscription>(stored::Kind::Subscription, subscription);
  }
  // The reply stands before the first event, and events leave by themselves once they may.
  parts_.journal.await_durable();
  const auto attached = parts_.durables.attach(name, command.client, request.subscription());
  if (!attached) return refuse(attached.error());
  parts_.counts.added(*command.client, command.user.get());
  command.client->reply(begun.diagnostics.list.empty() ? ack(id)
                                                       : diagnostics_reply(id, begun.diagnostics));
}

void SubscriptionRequests::acknowledge(const Command& command, std::uint64_t id,
                                       const wire::Acknowledge& request) {
  const std::string name = request.durable()->str();
  if (is_kept_for_doors(command, name)) {
    return forbid(command, id, name, "only the server acknowledges what has left it");
  }
  if (!may_change(command, id, name)) return;
  const auto done = parts_.durables.acknowledge(name, {request.root(), request.ordinal()});
  if (!done) {
    command.client->reply(error_reply(id, wire::ErrorCode::Invalid, done.error()));
    return;
  }
  parts_.inhibitions.forget(name, {request.root(), request.ordinal()});
  stored::CursorT cursor;
  cursor.name = name;
  cursor.root = request.root();
  cursor.ordinal = request.ordinal();
  parts_.journal.write<stored::Cursor>(stored::Kind::Cursor, cursor);
  parts_.journal.reply_when_durable(command.client, ack(id));
}

void SubscriptionRequests::end_durable(const Command& command, std::uint64_t id,
                                       const wire::EndDurable& request) {
  const std::string name = request.durable()->str();
  if (is_kept_for_doors(command, name) && parts_.durables.is_attached(name)) {
    return forbid(command, id, name,
                  "take the door or the target out of the configuration and reload first");
  }
  if (!may_change(command, id, name)) return;
  if (const auto done = parts_.durables.end(name); !done) {
    command.client->reply(error_reply(id, wire::ErrorCode::NotFound, done.error()));
    return;
  }
  stored::SubscriptionT ended;
  ended.name = name;
  ended.clock = parts_.clock.now();
  parts_.journal.write<stored::Subscription>(stored::Kind::Subscription, ended);
  parts_.journal.reply_when_durable(command.client, ack(id));
}

void SubscriptionRequests::forget(Outbox& client) {
  parts_.subscriptions.remove_all(client);
  parts_.durables.detach_all(client);
  parts_.counts.removed_all(client);
}

void SubscriptionRequests::list_durables(const Command& command, std::uint64_t id) const {
  wire::DurablesT durables;
  for (wire::DurableInfoT& info : parts_.durables.list()) {
    if (!check_owner(command.user, info.name)) continue;
    durables.list.push_back(std::make_unique<wire::DurableInfoT>(std::move(info)));
  }
  command.client->reply(protocol::encode(id, durables));
}

}  // namespace gorgo::server
