#include "server/engine/door_requests.hpp"

#include <utility>

#include "server/replies.hpp"

namespace gorgo::server {
namespace {

namespace stored = journal::stored;

Diagnostics lasts_as_long_as_the_server(const std::string& name) {
  Diagnostics diagnostics;
  diagnostics.list.push_back(
      {.severity = Severity::warning,
       .file = name,
       .message = "this server has no journal, so the door is gone when it ends",
       .hint = "start the server with --journal, or put the door into its "
               "configuration"});
  return diagnostics;
}

}  // namespace

Result<void> DoorRequests::make_room(const std::string& name, std::size_t bytes) {
  if (closing_.contains(name)) {
    return Error{"the door '" + name + "' is being removed", "ask again when that is done"};
  }
  return parts_.journal.make_room(bytes);
}

void DoorRequests::declare(const Command& command, std::uint64_t id,
                           const wire::DeclareDoor& request) {
  stored::DoorChangeT change;
  change.name = request.name()->str();
  change.text = request.text()->str();
  change.who = name_of(command.user);
  change.clock = parts_.clock.now();
  if (auto room = make_room(change.name, command.frame.size()); !room) {
    command.client->reply(error_reply(id, wire::ErrorCode::Overloaded, room.error()));
    return;
  }
  const bool is_kept = parts_.journal.is_on();
  parts_.journal.write<stored::DoorChange>(stored::Kind::DoorChange, change);
  carry_out(change, parts_.known);
  parts_.doors.open(change.name, change.text);
  parts_.log.info("door declared", {{"door", change.name}, {"session", command.client->id()}});
  parts_.journal.reply_when_durable(
      command.client,
      diagnostics_reply(id, is_kept ? Diagnostics() : lasts_as_long_as_the_server(change.name)));
}

void DoorRequests::remove(const Command& command, std::uint64_t id,
                          const wire::RemoveDoor& request) {
  const std::string name = request.name()->str();
  if (!parts_.known.declared.contains(name)) {
    command.client->reply(error_reply(id, wire::ErrorCode::NotFound,
                                      {"no door '" + name + "' was declared",
                                       "gorgo doors lists "
                                       "doors"}));
    return;
  }
  if (auto room = make_room(name, name.size()); !room) {
    command.client->reply(error_reply(id, wire::ErrorCode::Overloaded, room.error()));
    return;
  }
  closing_[name] = {command.client, id, name_of(command.user)};
  parts_.doors.close(name, [this, name](bool is_configured) { end(name, is_configured); });
}

/// Only once the door is closed: what it still asked for would bring its position back. A door of
/// the configuration that has the name goes on, so position and subscription are that one's.
void DoorRequests::end(const std::string& name, bool is_configured) {
  parts_.process();
  const Removal removal = std::move(closing_.extract(name).mapped());
  const auto room = parts_.journal.make_room(name.size());
  if (!room) {
    parts_.doors.open(name, parts_.known.declared.at(name));
    removal.client->reply(error_reply(removal.id, wire::ErrorCode::Overloaded, room.error()));
    return;
  }
  stored::DoorChangeT change;
  change.name = name;
  change.forget = !is_configured;
  change.who = removal.who;
  change.clock = parts_.clock.now();
  parts_.journal.write<stored::DoorChange>(stored::Kind::DoorChange, change);
  carry_out(change, parts_.known);
  parts_.doors.remove(name, change.forget);
  parts_.log.info("door removed", {{"door", name}, {"session", removal.client->id()}});
  parts_.journal.reply_when_durable(removal.client, ack(removal.id));
}

}  // namespace gorgo::server
