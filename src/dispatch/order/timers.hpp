#pragma once

#include <cstdint>
#include <optional>

#include "base/int128.hpp"
#include "gorgo/rule.hpp"

namespace gorgo::dispatch {

/// The instants of a timer (language.md §8): for every int k, offset + k * period since the epoch,
/// on the clocks of its zone.
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
  Int128 instant(Int128 number) const;

  Duration period_;
  Duration offset_;
  const date::time_zone* clock_;  // null: UTC
};

}  // namespace gorgo::dispatch
