#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "journal/records.hpp"
#include "journal/snapshot.hpp"
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

/// What is known but for `ServerParts`. `roots`: how many have a place. `unfinished`: publications
/// of which some rows were not taken.
journal::stored::ServerStateT state_of(const ServerKnowledge& knowledge, std::uint64_t roots,
                                       const std::vector<const Publication*>& unfinished);

/// Rule files, deployments and the history of rules, which may have many texts, a few at a time.
/// Rules must not come or go while it is used.
class ServerParts {
 public:
  explicit ServerParts(const ServerKnowledge& knowledge);
  /// Unset: those before were the last ones.
  std::optional<journal::stored::ServerPartT> next();

 private:
  using Files = std::map<std::string, KnownFiles::File>;

  const Files& files_;
  const std::deque<RuleHistory::Entry>& history_;
  const Deployments::Names& deployments_;
  Files::const_iterator next_file_;
  std::size_t next_entry_ = 0;
  Deployments::Names::const_iterator next_deployment_;
};

/// What a snapshot begins with.
struct SavedServer {
  journal::stored::ServerStateT state;  ///< with all its parts
  std::uint64_t bytes = 0;              ///< of its records
  std::optional<journal::Record> next;  ///< the record behind it, until the reader is asked again
};
/// `reader`: nothing was read from it yet.
Result<SavedServer> read_server(journal::SnapshotReader& reader);

/// What a snapshot has of producers, doors, files and deployments, brought back.
void restore(const journal::stored::ServerStateT& state, Producers& producers);
void restore(const journal::stored::ServerStateT& state, DoorPositions& positions);
void restore(const journal::stored::ServerStateT& state, DeclaredDoors& declared);
RuleHistory restored_history(const journal::stored::ServerStateT& state);
KnownFiles restored_files(const journal::stored::ServerStateT& state);
void restore(const journal::stored::ServerStateT& state, Deployments& deployments);

}  // namespace gorgo::server
