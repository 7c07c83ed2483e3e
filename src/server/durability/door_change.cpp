#include "server/durability/door_change.hpp"

#include "server/doors/durable_name.hpp"

namespace gorgo::server {

void carry_out(const journal::stored::DoorChangeT& change, const KnownDoors& known) {
  if (!change.text.empty()) {
    known.declared[change.name] = change.text;
    return;
  }
  known.declared.erase(change.name);
  if (!change.forget) return;
  known.positions.forget(change.name);
  // Only a sink has a subscription, and only with a journal.
  static_cast<void>(known.durables.end(durable_of(change.name)));
}

}  // namespace gorgo::server
