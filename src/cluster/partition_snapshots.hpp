#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "cluster/saved_partition.hpp"
#include "journal/snapshot.hpp"

namespace gorgo::cluster {

/// Where the snapshots of a partition are, and how often they are made.
struct SnapshotSettings {
  std::string folder;       ///< is made where it is missing; empty: there are no snapshots
  std::uint64_t bytes = 0;  ///< how many come in from one to the next; 0: there are no snapshots
};

/// Snapshots of one partition at one node, so that who comes back need not read all that the input
/// stream keeps, and knows what the stream keeps no longer. Each is a file of the journal's format
/// (journal/snapshot.hpp), whose place is the sequence behind the last message that was taken. What
/// is saved is a moment, and is written some at a time while messages are taken. The last two stay,
/// so that one may be damaged. One thread.
class PartitionSnapshots {
 public:
  struct Restored {
    SavedPartition saved;
    std::unique_ptr<Evaluation> evaluation;
    std::deque<OutputMessage> waiting;  ///< that the output stream did not have for sure
  };
  /// Why a snapshot cannot be used with the streams as they are; empty: it can.
  using Objection = std::function<std::string(const SavedPartition& saved)>;

  explicit PartitionSnapshots(SnapshotSettings settings);
  PartitionSnapshots(const PartitionSnapshots&) = delete;
  PartitionSnapshots& operator=(const PartitionSnapshots&) = delete;

  bool are_on() const { return !settings_.folder.empty() && settings_.bytes > 0; }
  /// The latest snapshot that can be used, if there is one. Those that cannot are removed, because
  /// the partition goes another way from there. `created`: when the input stream was made.
  /// An error: `breaks_off` said so.
  Result<std::optional<Restored>> restore(std::int64_t created, const ProcessorOptions& options,
                                          const Objection& objection,
                                          const std::function<bool()>& breaks_off);

  /// An input message with so many bytes of events was taken.
  void note(std::size_t bytes) { taken_ += kMessageBytes + bytes; }
  /// Whether the next one is due: so much was taken as `bytes` say, and at least as much as the
  /// last one has; or a message was taken, and the last one was made `most` ago. 0: however long.
  bool is_due(std::chrono::nanoseconds most) const;
  /// Whether anything was taken since the last one was begun.
  bool is_behind() const { return taken_ > 0; }
  /// Begins one. Precondition: none is being written.
  void begin(std::int64_t created, const SavedPartition& saved,
             const std::deque<OutputMessage>& waiting, Evaluation& evaluation);
  bool is_writing() const { return writer_ != nullptr; }
  /// Writes until this time, or until it is done or has failed. Does nothing where none is written.
  void go_on(Evaluation& evaluation, std::chrono::steady_clock::time_point until);
  /// Gives up what is being written.
  void give_up(Evaluation& evaluation);

  /// The sequence of the last message in the last one that was finished or restored; 0: none was.
  std::uint64_t sequence() const { return sequence_; }
  /// What was wrong with the last one that was; empty: none was.
  const std::string& problem() const { return problem_; }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::size_t kMessageBytes = 64;  ///< what a message has beside events, about

  const SnapshotSettings settings_;
  const std::unique_ptr<journal::Disk> disk_;
  std::unique_ptr<journal::SnapshotWriter> writer_;
  std::uint64_t writing_ = 0;    // the sequence of the one that is being written
  std::uint64_t taken_ = 0;      // bytes of messages since the last one was begun
  std::uint64_t last_size_ = 0;  // of the last one, in bytes
  Clock::time_point begun_ = Clock::now();
  std::uint64_t sequence_ = 0;
  std::string problem_;

  Result<void> make_folder();
  Result<void> write_begin(std::int64_t created, const SavedPartition& saved,
                           const std::deque<OutputMessage>& waiting, Evaluation& evaluation);
  Result<void> write_more(Evaluation& evaluation);
  Result<void> finish();
  void attempt(Evaluation& evaluation, const std::function<Result<void>()>& step);
  Result<Restored> read(journal::Place place, std::int64_t created, const ProcessorOptions& options,
                        const Objection& objection, const std::function<bool()>& breaks_off);
};

}  // namespace gorgo::cluster
