#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <unordered_map>

#include "gorgo/value.hpp"
#include "server/log.hpp"
#include "server/log_limit.hpp"
#include "server/sessions/outbox.hpp"

namespace gorgo::server {

/// Finds clients whose clocks run ahead of the server's: their events move the clock of everybody.
/// Finds a clock of the server's own that was put back, too. Belongs to the engine thread.
class ClockWatch {
 public:
  using Moment = std::chrono::steady_clock::time_point;

  struct Counts {
    std::uint64_t ahead = 0;      ///< accepted, more than a second ahead
    std::uint64_t too_ahead = 0;  ///< refused because they were too far ahead
  };

  /// `clock`: the server's, nanoseconds since the epoch. `max_ahead`: an event that is further
  /// ahead is refused.
  ClockWatch(Log& log, std::function<Timestamp()> clock, std::optional<Duration> max_ahead)
      : log_(log), clock_(std::move(clock)), max_ahead_(max_ahead) {}

  /// Reads the clock for the events of one publication. `released`: the time up to which events
  /// have come.
  void begin(std::optional<Timestamp> released) {
    now_ = clock_();
    if (released && *released > now_) look_behind(*released);
    found_ = {};
    furthest_ = now_;
  }
  /// Takes the timestamp of one of them.
  void take(Timestamp timestamp) {
    if (timestamp > now_ && timestamp - kTolerance > now_) count(timestamp);
  }
  /// Names the client in the log if it was ahead, at most once in ten seconds.
  void end(const Outbox& client, Moment moment);
  void forget(const Outbox& client) { named_.erase(client.id()); }

  const Counts& counts() const { return counts_; }

 private:
  static constexpr Duration kTolerance = 1'000'000'000;

  void count(Timestamp timestamp);
  void look_behind(Timestamp released);

  Log& log_;
  const std::function<Timestamp()> clock_;
  const std::optional<Duration> max_ahead_;
  Counts counts_;
  LogLimit behind_limit_;

  // The members below are about the publication in hand.
  Timestamp now_ = 0;
  Timestamp furthest_ = 0;
  Counts found_;

  /// What is known of a client that was named.
  struct Named {
    Moment last;
    Counts since;
  };
  std::unordered_map<std::uint64_t, Named> named_;  // by Outbox::id
};

}  // namespace gorgo::server
