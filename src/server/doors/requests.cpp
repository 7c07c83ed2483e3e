#include "server/doors/requests.hpp"

#include <memory>

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
  return told;
}

}  // namespace

bool answer_about_doors(SessionHub& hub, Outbox& client, const wire::Message& message) {
  if (message.body_as_ListDoors() == nullptr) return false;
  wire::DoorsT reply;
  for (const Door& door : hub.doors()) reply.list.push_back(to_wire(door));
  client.reply(protocol::encode(message.id(), reply));
  return true;
}

}  // namespace gorgo::server
