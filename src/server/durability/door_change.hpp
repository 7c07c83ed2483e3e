#pragma once

#include "journal/records.hpp"
#include "server/door_positions.hpp"
#include "server/durability/durable_subscriptions.hpp"

namespace gorgo::server {

/// What the change of a door may change. Belongs to the engine thread.
struct KnownDoors {
  DeclaredDoors& declared;
  DoorPositions& positions;
  DurableSubscriptions& durables;
};

/// Does what the record tells, when it is written and when it is replayed.
void carry_out(const journal::stored::DoorChangeT& change, const KnownDoors& known);

}  // namespace gorgo::server
