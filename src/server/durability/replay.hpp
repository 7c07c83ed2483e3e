#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gorgo/processor.hpp"
#include "journal/reader.hpp"
#include "journal/records.hpp"
#include "server/actions/inhibitions.hpp"
#include "server/command.hpp"
#include "server/door_positions.hpp"
#include "server/durability/durable_subscriptions.hpp"
#include "server/durability/engine_clock.hpp"
#include "server/durability/journal_feed.hpp"
#include "server/durability/known_files.hpp"
#include "server/durability/result_hash.hpp"
#include "server/durability/start_progress.hpp"
#include "server/engine/producers.hpp"
#include "server/log.hpp"
#include "server/rules/deployments.hpp"
#include "server/rules/rule_history.hpp"

namespace gorgo::server {

/// What decides results, of these options.
journal::stored::SettingsT settings_of(const ProcessorOptions& options);

/// Does again what the records of a journal tell, through the ordinary path, so that afterwards
/// everything is as it was when the last record was written. One thread.
class Replay {
 public:
  /// What the records are about. All of it outlives the replay.
  struct State {
    Processor& processor;
    EngineClock& clock;
    Producers& producers;
    DoorPositions& positions;
    DeclaredDoors& declared_doors;
    Inhibitions* inhibitions = nullptr;  ///< null: nobody asks for them
    Deployments& deployments;
    ResultHash& results;
    DurableSubscriptions& durables;
    std::function<void()> process;          ///< evaluates what is pending
    std::function<void()> process_if_many;  ///< the same, when much is pending
    std::function<void()> flush;            ///< the same, and what lateness holds
  };
  using Unfinished = JournalFeed::Unfinished;

  Replay(journal::View journal, State state, const journal::stored::SettingsT& settings,
         StartProgress& progress, Log& log);

  /// An error: the journal cannot be read, was written with other settings, or does not fit what
  /// this program does with it.
  Result<void> run();
  /// Replays up to the record that gave this root its place, and returns that record's place.
  /// Errors are those of `run`, and that no record gave the root a place.
  Result<journal::Place> run_to(std::uint64_t root);

  std::uint64_t records() const { return records_; }
  /// Bytes of these records.
  std::uint64_t record_bytes() const { return record_bytes_; }
  /// Bytes of the snapshot that was restored; 0: none was.
  std::uint64_t snapshot_bytes() const { return snapshot_bytes_; }
  /// To be finished, in this order, before anything else is taken.
  std::vector<Unfinished> take_unfinished() { return feed_.take_unfinished(); }
  KnownFiles take_files() { return std::move(files_); }
  RuleHistory take_history() { return std::move(history_); }

 private:
  using Clock = std::chrono::steady_clock;

  const journal::View journal_;
  const State state_;
  const journal::stored::SettingsT settings_;
  journal::stored::SettingsT written_with_;  // what stands behind the snapshot or the last Settings
  StartProgress& progress_;
  Log& log_;
  JournalFeed feed_;
  Result<void> fits_;  // what it has refused
  KnownFiles files_;
  RuleHistory history_;
  std::uint64_t records_ = 0, record_bytes_ = 0, snapshot_bytes_ = 0;
  bool differs_ = false;  // results were found to differ
  Clock::time_point said_ = Clock::now();

  /// Restores the latest snapshot that is whole and knows no root as late as this one, if there is
  /// one. Returns the first place to replay.
  Result<journal::Place> begin(std::uint64_t root);
  /// Takes the records from there on, until `over` says so; it is asked behind each of them.
  Result<void> take_from(journal::Place first, const std::function<bool(journal::Place)>& over);
  /// The first root that the snapshot does not know; nothing: it cannot be read.
  std::optional<std::uint64_t> next_root_at(journal::Place snapshot) const;
  /// Why there is nowhere to begin. `places`: of the snapshots, the latest first.
  Error nothing_before(std::uint64_t root, const std::vector<journal::Place>& places) const;
  Result<void> restore(journal::Place place);
  Result<void> restore_server(const journal::stored::ServerStateT& state);
  /// So much of the step in hand is done.
  void reach(std::uint64_t done);
  Result<void> take(const journal::Record& record);
  Result<void> carry_out(const journal::Record& record);
  Result<void> take_frame(const journal::Record& record);
  Result<void> take_request(journal::Place at, journal::Bytes frame);
  Result<void> take_rows(journal::Place frame_at, const journal::stored::Acceptance& how);
  Result<void> change_rules(const journal::stored::RuleChangeT& change);
  Result<void> declare(const wire::Declare& request);
  Result<void> subscribe(const journal::stored::SubscriptionT& subscription);
  void pin(const journal::stored::PinT& pin);
  Result<void> suspend(const journal::stored::SuspensionT& suspension);
  Result<void> compare_settings() const;
  void compare(const journal::stored::ResultsT& results);
};

}  // namespace gorgo::server
