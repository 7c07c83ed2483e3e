#include "server/doors/durable_name.hpp"
#include "server/engine_thread.hpp"
#include "server/replies.hpp"

// What clients ask about durable subscriptions, on the engine thread.
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

}  // namespace

Result<void> EngineThread::check_owner(const UserPtr& user, const std::string& name) const {
  const auto owner = durables_.owner_of(name);
  if (!owner) return owner.error();
  if (user == nullptr || user->admin || *owner == user->name) return {};
  return Error{"the durable subscription '" + name + "' is of another user",
               "take a name of your own"};
}

void EngineThread::subscribe_durable(const Command& command, std::uint64_t id,
                                     const wire::Subscribe& request) {
  const auto refuse = [&](const Error& why) {
    command.client->reply(error_reply(id, wire::ErrorCode::Invalid, why));
  };
  if (!journal_.is_on()) {
    return refuse({"this server keeps nothing, so a subscription cannot be durable",
                   "subscribe without a name, or start the server with --journal"});
  }
  const std::string name = request.durable()->str();
  if (is_kept_for_doors(command, name)) {
    return forbid(command, id, name, "take a name that begins with neither 'door ' nor 'action '");
  }
  auto allowed = check_name(name);
  if (allowed && durables_.owner_of(name)) allowed = check_owner(command.user, name);
  if (allowed && !durables_.owner_of(name)) {
    const std::size_t has = durables_.count_of(name_of(command.user));
    if (const auto may = subscription_counts_.check_durable(command.user.get(), has); !may) {
      command.client->reply(error_reply(id, wire::ErrorCode::Overloaded, may.error()));
      return;
    }
  }
  if (allowed) allowed = journal_.make_room(command.frame.size());
  if (!allowed) return refuse(allowed.error());
  auto begun = durables_.begin(name, request.text()->str(), name_of(command.user),
                               processor_.schema(), patterns_of(command.user.get()));
  if (!begun.fresh) return refuse(begun.fresh.error());
  if (begun.diagnostics.failed()) {
    command.client->reply(diagnostics_reply(id, begun.diagnostics));
    return;
  }
  if (*begun.fresh) {
    stored::SubscriptionT subscription;
    subscription.name = name;
    subscription.text = request.text()->str();
    subscription.next_root = processor_.roots() + 1;
    subscription.who = name_of(command.user);
    subscription.clock = clock_.now();
    journal_.write<stored::Subscription>(stored::Kind::Subscription, subscription);
  }
  // The reply stands before the first event, and events leave by themselves once they may.
  journal_.await_durable();
  const auto attached = durables_.attach(name, command.client, request.subscription());
  if (!attached) return refuse(attached.error());
  subscription_counts_.added(*command.client, command.user.get());
  command.client->reply(begun.diagnostics.list.empty() ? ack(id)
                                                       : diagnostics_reply(id, begun.diagnostics));
}

void EngineThread::acknowledge(const Command& command, std::uint64_t id,
                               const wire::Acknowledge& request) {
  const std::string name = request.durable()->str();
  if (is_kept_for_doors(command, name)) {
    return forbid(command, id, name, "only the server acknowledges what has left it");
  }
  auto done = check_owner(command.user, name);
  const auto code = done ? wire::ErrorCode::Invalid : wire::ErrorCode::NotFound;
  if (done) done = journal_.make_room(name.size());
  if (done) done = durables_.acknowledge(name, {request.root(), request.ordinal()});
  if (!done) {
    command.client->reply(error_reply(id, code, done.error()));
    return;
  }
  inhibitions_.forget(name, {request.root(), request.ordinal()});
  stored::CursorT cursor;
  cursor.name = name;
  cursor.root = request.root();
  cursor.ordinal = request.ordinal();
  journal_.write<stored::Cursor>(stored::Kind::Cursor, cursor);
  journal_.reply_when_durable(command.client, ack(id));
}

void EngineThread::end_durable(const Command& command, std::uint64_t id,
                               const wire::EndDurable& request) {
  const std::string name = request.durable()->str();
  if (is_kept_for_doors(command, name) && durables_.is_attached(name)) {
    return forbid(command, id, name,
                  "take the door or the target out of the configuration and reload first");
  }
  auto done = check_owner(command.user, name);
  if (done) done = journal_.make_room(name.size());
  if (done) done = durables_.end(name);
  if (!done) {
    command.client->reply(error_reply(id, wire::ErrorCode::NotFound, done.error()));
    return;
  }
  stored::SubscriptionT ended;
  ended.name = name;
  ended.clock = clock_.now();
  journal_.write<stored::Subscription>(stored::Kind::Subscription, ended);
  journal_.reply_when_durable(command.client, ack(id));
}

void EngineThread::list_durables(const Command& command, std::uint64_t id) const {
  wire::DurablesT durables;
  for (wire::DurableInfoT& info : durables_.list()) {
    if (!check_owner(command.user, info.name)) continue;
    durables.list.push_back(std::make_unique<wire::DurableInfoT>(std::move(info)));
  }
  command.client->reply(protocol::encode(id, durables));
}

}  // namespace gorgo::server
