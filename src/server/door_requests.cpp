#include <utility>

#include "server/durability/door_change.hpp"
#include "server/engine_thread.hpp"
#include "server/replies.hpp"

// What clients ask about doors that they declare, on the engine thread. Whether a declaration is
// right was found out before, by `Doors::check`.
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

Result<void> EngineThread::make_room_for_door(const std::string& name, std::size_t bytes) {
  if (closing_doors_.contains(name)) {
    return Error{"the door '" + name + "' is being removed", "ask again when that is done"};
  }
  return journal_.make_room(bytes);
}

void EngineThread::declare_door(const Command& command, std::uint64_t id,
                                const wire::DeclareDoor& request) {
  stored::DoorChangeT change;
  change.name = request.name()->str();
  change.text = request.text()->str();
  change.who = name_of(command.user);
  change.clock = clock_.now();
  if (auto room = make_room_for_door(change.name, command.frame.size()); !room) {
    command.client->reply(error_reply(id, wire::ErrorCode::Overloaded, room.error()));
    return;
  }
  const bool is_kept = journal_.is_on();
  journal_.write<stored::DoorChange>(stored::Kind::DoorChange, change);
  server::carry_out(change, {declared_doors_, positions_, durables_});
  door_calls_.open(change.name, change.text);
  log_.info("door declared", {{"door", change.name}, {"session", command.client->id()}});
  journal_.reply_when_durable(
      command.client,
      diagnostics_reply(id, is_kept ? Diagnostics() : lasts_as_long_as_the_server(change.name)));
}

void EngineThread::remove_door(const Command& command, std::uint64_t id,
                               const wire::RemoveDoor& request) {
  const std::string name = request.name()->str();
  if (!declared_doors_.contains(name)) {
    command.client->reply(error_reply(id, wire::ErrorCode::NotFound,
                                      {"no door '" + name + "' was declared",
                                       "gorgo doors lists "
                                       "doors"}));
    return;
  }
  if (auto room = make_room_for_door(name, name.size()); !room) {
    command.client->reply(error_reply(id, wire::ErrorCode::Overloaded, room.error()));
    return;
  }
  closing_doors_[name] = {command.client, id, name_of(command.user)};
  door_calls_.close(name, [this, name](bool is_configured) { end_door(name, is_configured); });
}

/// Only once the door is closed: what it still asked for would bring its position back. A door of
/// the configuration that has the name goes on, so position and subscription are that one's.
void EngineThread::end_door(const std::string& name, bool is_configured) {
  process();
  const Removal removal = std::move(closing_doors_.extract(name).mapped());
  const auto room = journal_.make_room(name.size());
  if (!room) {
    door_calls_.open(name, declared_doors_.at(name));
    removal.client->reply(error_reply(removal.id, wire::ErrorCode::Overloaded, room.error()));
    return;
  }
  stored::DoorChangeT change;
  change.name = name;
  change.forget = !is_configured;
  change.who = removal.who;
  change.clock = clock_.now();
  journal_.write<stored::DoorChange>(stored::Kind::DoorChange, change);
  server::carry_out(change, {declared_doors_, positions_, durables_});
  door_calls_.remove(name, change.forget);
  log_.info("door removed", {{"door", name}, {"session", removal.client->id()}});
  journal_.reply_when_durable(removal.client, ack(removal.id));
}

}  // namespace gorgo::server
