#include "server/doors/requests.hpp"

#include <memory>

#include "server/doors/doors.hpp"
#include "server/replies.hpp"

namespace gorgo::server {
namespace {

std::unique_ptr<wire::DoorInfoT> to_wire(const Door& door) {
  auto told = std::make_unique<wire::DoorInfoT>();
  told->name = door.name;
  told->kind = door.kind;
  told->direction = door.direction;
  told->target = door.target;
  told->state = door.state;
  told->problem = door.problem;
  told->events = door.events;
  told->refused = door.refused;
  told->dead_letters = door.dead_letters;
  told->lost = door.lost;
  told->failures = door.failures;
  told->position = door.position;
  told->declared = door.declared;
  return told;
}

}  // namespace

bool answer_about_doors(SessionHub& hub, Outbox& client, const wire::Message& message) {
  Result<void> checked;
  if (const auto* declared = message.body_as_DeclareDoor()) {
    checked = hub.doors->check(declared->name()->str(), declared->text()->str());
  } else if (const auto* removed = message.body_as_RemoveDoor()) {
    checked = hub.doors->check_removal(removed->name()->str());
  } else if (message.body_as_ListDoors() != nullptr) {
    wire::DoorsT reply;
    for (const Door& door : hub.doors->infos()) reply.list.push_back(to_wire(door));
    client.reply(protocol::encode(message.id(), reply));
    return true;
  }
  if (checked) return false;
  client.reply(error_reply(message.id(), wire::ErrorCode::Invalid, checked.error()));
  return true;
}

}  // namespace gorgo::server
