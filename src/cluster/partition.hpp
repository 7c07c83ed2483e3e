#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "cluster/evaluation.hpp"
#include "cluster/output.hpp"
#include "cluster/partition_snapshots.hpp"
#include "doors/nats/stream_reader.hpp"

namespace gorgo::cluster {

enum class Role : std::uint8_t {
  standby,  ///< evaluates, and keeps what the owner has not published yet
  owner,    ///< publishes, too
};

struct PartitionSettings {
  doors::Settings broker;  ///< address, user, certificate
  std::string cluster, family;
  std::uint32_t number = 0;
  std::string node;          ///< who has it, which stands in what it publishes
  ProcessorOptions options;  ///< those that decide results are the same at all nodes
  SnapshotSettings snapshots = {};
};

/// A partition of a family at one node. It reads the input stream behind what its last snapshot
/// knows, or from the oldest message that is there, evaluates it on a thread of its own, and
/// publishes what follows behind the last message of the output stream, while it has the role of
/// the owner. Several may take themselves for the owner: the output stream has each composite once
/// all the same (see `Output`). The broker knows nothing of how far it has read. All members: any
/// thread.
class Partition {
 public:
  struct State {
    Role role = Role::standby;    ///< that it was given
    bool is_publishing = false;   ///< the output stream lets it
    bool has_caught_up = false;   ///< it has come to the end of the input stream once, nearly
    std::uint64_t sequence = 0;   ///< of the last input message that was evaluated
    std::uint64_t lag = 0;        ///< input messages behind it, when it was sent
    std::size_t waiting = 0;      ///< output messages that the stream may not have yet
    std::uint64_t published = 0;  ///< output messages, by this one
    std::uint64_t fenced = 0;     ///< how often it found another one publishing
    std::uint64_t rules_version = 0;
    std::int64_t rules_at = 0;  ///< when the stream got the last message with rules; 0: it has none
    std::uint64_t snapshot = 0;    ///< the last message that a snapshot knows; 0: there is none
    std::string snapshot_problem;  ///< what was wrong with the last snapshot; empty: nothing
    Evaluation::Counters counters;
    std::string problem;   ///< why it does not go on; empty: it does
    std::string stray;     ///< see `Output`: until that message is removed, it stands still
    std::string last_bad;  ///< what was wrong with an input message
  };

  explicit Partition(PartitionSettings settings, Role role = Role::standby);
  ~Partition();
  Partition(const Partition&) = delete;
  Partition& operator=(const Partition&) = delete;

  void set_role(Role role);
  /// Has the thread end soon: it publishes no more then, and makes a last snapshot.
  void stop();
  /// Waits until nothing is published any more. Precondition: `stop` was called.
  void await_silence();
  /// Whether the destructor need not wait.
  bool has_ended() const { return has_ended_; }
  State state() const;
  const std::string& family() const { return settings_.family; }
  std::uint32_t number() const { return settings_.number; }

 private:
  using Clock = std::chrono::steady_clock;

  const PartitionSettings settings_;
  std::atomic<Role> role_;
  std::atomic<bool> stops_ = false, has_ended_ = false;
  mutable std::mutex mutex_;  // guards `state_` and `is_silent_`, and sleeping
  std::condition_variable woken_;
  State state_;
  bool is_silent_ = false;

  // The thread alone uses these.
  doors::nats::Connection connection_;
  doors::nats::StreamReader reader_;
  std::unique_ptr<Evaluation> evaluation_;
  std::int64_t created_ = 0;  // the input stream
  std::chrono::nanoseconds keeps_{};
  PartitionSnapshots snapshots_;
  bool has_looked_for_snapshot_ = false;
  bool has_caught_up_ = false;
  std::uint64_t next_end_ = 0;  // messages of the subscription, by which it may have caught up
  std::uint64_t lag_ = 0;       // messages behind the last one
  std::int64_t rules_at_ = 0;
  Output output_;
  bool is_publishing_ = false;
  Clock::time_point next_look_ = {};   // at the output stream, as a standby
  Clock::time_point not_before_ = {};  // it publishes again
  unsigned refusals_ = 0;              // in a row, before anything was published
  bool is_appointed_ = true;           // so it may begin behind what another one has written
  std::uint64_t published_ = 0, fenced_ = 0;
  std::deque<OutputMessage> waiting_;  // that the output stream may not have
  std::size_t waiting_bytes_ = 0;
  std::size_t sent_ = 0;  // of them, since publishing began

  std::thread thread_;  // the last member, because it uses the others

  void run();
  Result<void> step();
  Result<void> begin_reading();
  Result<void> bring_back(const doors::nats::StreamState& input);
  std::string objection_to(const SavedPartition& saved,
                           const doors::nats::StreamState& input) const;
  void forget_all();
  Result<bool> read();
  void take(const doors::nats::StreamReader::Message& message);
  Result<void> see_whether_caught_up(bool is_quiet);
  Result<void> look_if_due();
  Result<void> publish(std::chrono::milliseconds patience);
  Result<void> begin_publishing();
  Result<void> end_publishing(const Error& why);
  void stop_publishing();
  bool is_anothers() const;
  void leave_to_another();
  Result<void> look();
  void forget_confirmed();
  void drop_first();
  void lose_connection(const Error& why);
  void free_subscriptions();
  void save_if_due();
  void begin_snapshot();
  void make_last_snapshot();
  void fall_silent();
  void tell(const std::string& problem = "");
};

}  // namespace gorgo::cluster
