#pragma once

#include <chrono>
#include <compare>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <unordered_map>
#include <vector>

#include "server/command.hpp"
#include "server/options.hpp"

namespace gorgo::server {

/// Requests on their way to the engine thread: many producers, one consumer. Each client has a
/// lane, in which its requests keep their order, and the lanes take turns by what their requests
/// cost. Of lanes that were served as much, the one that has waited longest is next: so what comes
/// first of new clients is carried out in the order in which it came.
///
/// A lane that is not empty may hold as much as is free in the whole queue, in bytes and in cost,
/// so that one client fills half of the queue, two fill a third each, and some room always stays
/// for others. An empty lane takes any request. A producer that finds its lane full stops reading
/// from its client; the outbox of the client is woken when there is room.
class CommandQueue {
 public:
  /// `memory` must outlive the queue.
  CommandQueue(const Limits& limits, MemoryBudget& memory);

  enum class Push : std::uint8_t { queued, full, closed };
  /// Takes `request` only when the answer is `queued`.
  Push push(Command& request);
  /// Commands that are no requests are few and small: they always find room. A closed queue drops
  /// them.
  void push_control(Command command);
  /// For the consumer: puts back the rest of a publication of which a piece was carried out. It
  /// stands before everything else in its lane.
  void put_back(Command publication);
  /// For the consumer: puts back a publication of which nothing could be carried out. Its lane has
  /// no turn for a moment.
  void put_off(Command publication);

  /// For the consumer: the publications that were put back. They stay until it takes them again.
  std::vector<const Publication*> unfinished();

  enum class Drop : std::uint8_t {
    replies_only,  ///< what only the client that has gone would learn of; see Work::kept
    all,           ///< everything that was not begun
  };
  /// Forgets requests of a client. Returns how many.
  std::size_t drop(std::uint64_t client, Drop what);
  /// Forgets the requests that were not begun of clients whose outboxes are closed. Returns how
  /// many.
  std::size_t drop_closed();
  /// Bytes that a client's requests hold.
  std::size_t bytes(std::uint64_t client);
  /// Bytes that all requests hold.
  std::size_t bytes();
  /// Closes the queue: it accepts nothing more, but what is queued is still handed out.
  void close();
  bool is_closed();
  /// Closes the queue and forgets what is queued. Returns how many requests.
  std::size_t discard();

  /// Waits for commands, not longer than `patience` when that is set, and appends what fits in one
  /// turn to the empty `out`; false: the queue is closed and empty. `pace` is how much longer
  /// requests take than their estimate says, at least 1: turns and pieces are so much smaller.
  bool take(std::vector<Command>& out, std::optional<std::chrono::nanoseconds> patience = {},
            double pace = 1);

 private:
  using Time = std::chrono::steady_clock::time_point;
  /// Lanes are compared by what they were served, in the unit of Work::cost.
  using Served = std::uint64_t;
  struct Lane {
    std::deque<Command> commands;
    std::size_t bytes = 0;
    std::uint64_t cost = 0;
    Served served = 0;
    bool in_turns = false;
    bool in_hand = false;  // a piece of its first publication is being carried out, or put off
    std::optional<Time> put_off_until = std::nullopt;
    std::shared_ptr<Outbox> refused = nullptr;  // set: to be woken when there is room
  };

  struct Turn {
    Served served;
    std::uint64_t number;  // turns are counted as lanes ask for them
    std::uint64_t client;
    auto operator<=>(const Turn&) const = default;
  };

  const std::size_t max_bytes_;
  const std::uint64_t max_cost_;

  std::mutex mutex_;  // guards all below; no other lock is taken while it is held
  std::condition_variable ready_;
  std::unordered_map<std::uint64_t, Lane> lanes_;  // by Outbox::id; 0: reloads
  std::set<Turn> turns_;                           // lanes with commands, least served first
  std::uint64_t turns_asked_for_ = 0;
  std::vector<std::uint64_t> in_hand_;  // clients
  std::vector<std::uint64_t> refused_;
  Served now_ = 0;  // `served` of the lane that was served last
  std::size_t bytes_ = 0;
  std::uint64_t cost_ = 0;
  MemoryShare memory_;  // of `bytes_`
  bool closed_ = false;

  bool has_room(const Lane& lane, std::size_t bytes, std::uint64_t cost) const;
  void count(Lane& lane, const Command& command);
  void uncount(Lane& lane, const Command& command);
  /// Takes the command, unless there is no memory for it.
  void append(Lane& lane, Command& command);
  void join_turns(std::uint64_t client, Lane& lane);
  /// Lets the lanes in hand have turns again, but for those that are put off.
  void join_in_hand();
  std::uint64_t serve_first(std::vector<Command>& out, std::uint64_t piece_cost);
  std::vector<std::shared_ptr<Outbox>> take_admitted();
};

}  // namespace gorgo::server
