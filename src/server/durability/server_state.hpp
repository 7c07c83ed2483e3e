#pragma once

#include <memory>
#include <vector>

#include "journal/records.hpp"
#include "server/actions/inhibitions.hpp"
#include "server/command_queue.hpp"
#include "server/door_positions.hpp"
#include "server/durability/durable_subscriptions.hpp"
#include "server/durability/known_files.hpp"
#include "server/durability/result_hash.hpp"
#include "server/engine/producers.hpp"
#include "server/rules/deployments.hpp"
#include "server/rules/rule_history.hpp"

namespace gorgo::server {

/// What a server knows besides its processor, and what a snapshot holds of it. All of it outlives
/// this; it belongs to the engine thread.
struct ServerKnowledge {
  const journal::stored::SettingsT& settings;
  const Producers& producers;
  const DoorPositions& positions;
  const DeclaredDoors& declared_doors;
  const Inhibitions& inhibitions;
  const ResultHash& results;
  const KnownFiles& files;
  const RuleHistory& history;
  const Deployments& deployments;
  const DurableSubscriptions& durables;
};

/// `roots`: how many have a place. `unfinished`: publications of which some rows were not taken.
journal::stored::ServerStateT state_of(const ServerKnowledge& knowledge, std::uint64_t roots,
                                       const std::vector<const Publication*>& unfinished);

/// What a snapshot has of producers, doors, files and deployments, brought back.
void restore(const journal::stored::ServerStateT& state, Producers& producers);
void restore(const journal::stored::ServerStateT& state, DoorPositions& positions);
void restore(const journal::stored::ServerStateT& state, DeclaredDoors& declared);
RuleHistory restored_history(const journal::stored::ServerStateT& state);
KnownFiles restored_files(const journal::stored::ServerStateT& state);
void restore(const journal::stored::ServerStateT& state, Deployments& deployments);

}  // namespace gorgo::server
