#include "dispatch/order/timers.hpp"

#include <algorithm>
#include <limits>

#include "functions/times.hpp"
#include "plan/period.hpp"

namespace gorgo::dispatch {

TimerSchedule::TimerSchedule(const Timer& timer)
    : period_(plan::period_of(timer)), offset_(plan::offset_of(timer)), clock_(timer.clock) {}

std::int64_t TimerSchedule::number_at(Timestamp timestamp) const {
  const Int128 local =
      clock_ == nullptr ? Int128{timestamp} : functions::local_time_at(timestamp, clock_);
  const Int128 distance = local - offset_;
  const Int128 quotient = distance / period_;
  Int128 number = distance % period_ < 0 ? quotient - 1 : quotient;
  // Where clocks are put back they show a time once more, of which the first is the instant.
  while (clock_ != nullptr && instant(number + 1) <= timestamp) ++number;
  while (clock_ != nullptr && instant(number) > timestamp) --number;
  return static_cast<std::int64_t>(number);
}

Int128 TimerSchedule::instant(Int128 number) const {
  const Int128 local = number * period_ + offset_;
  return clock_ == nullptr ? local : functions::instant_of_local(local, clock_);
}

std::optional<Timestamp> TimerSchedule::next_after(Timestamp timestamp) const {
  const Int128 next = instant(Int128{number_at(timestamp)} + 1);
  if (next > std::numeric_limits<Timestamp>::max()) return std::nullopt;
  return static_cast<Timestamp>(next);
}

std::uint64_t TimerSchedule::count(Timestamp after, Timestamp until) const {
  if (until <= after) return 0;
  return static_cast<std::uint64_t>(Int128{number_at(until)} - number_at(after));
}

Timestamp TimerSchedule::before_latest(std::uint64_t n, Timestamp until) const {
  const Int128 before = instant(Int128{number_at(until)} - static_cast<Int128>(n));
  return static_cast<Timestamp>(std::max<Int128>(before, std::numeric_limits<Timestamp>::min()));
}

}  // namespace gorgo::dispatch
