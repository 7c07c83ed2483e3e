#pragma once

#include <cstdint>
#include <optional>

#include "gorgo/rule.hpp"

namespace gorgo::dispatch {

/// The instants of a timer (language.md §8): offset + k * period since the epoch, for every int k.
class TimerSchedule {
 public:
  explicit TimerSchedule(const Timer& timer);

  /// The first instant after `timestamp`; nothing when it is beyond the range of timestamps.
  std::optional<Timestamp> next_after(Timestamp timestamp) const;
  /// Number of instants in (after, until].
  std::uint64_t count(Timestamp after, Timestamp until) const;
  /// A timestamp such that exactly the latest `n` instants up to `until` come after it.
  /// Precondition: there are that many after the least timestamp.
  Timestamp before_latest(std::uint64_t n, Timestamp until) const;

 private:
  /// Number of the last instant at or before `timestamp`.
  std::int64_t number_at(Timestamp timestamp) const;

  Duration period_;
  Duration offset_ = 0;
};

}  // namespace gorgo::dispatch
