#include "dispatch/order/timers.hpp"

#include <algorithm>
#include <limits>

#include "base/int128.hpp"

namespace gorgo::dispatch {
namespace {

constexpr Duration kSecond = 1'000'000'000;
constexpr Duration kMinute = 60 * kSecond;
constexpr Duration kHour = 60 * kMinute;
constexpr Duration kDay = 24 * kHour;

}  // namespace

TimerSchedule::TimerSchedule(const Timer& timer) {
  if (timer.every) {
    period_ = *timer.every;
    return;
  }
  period_ = timer.hour ? kDay : timer.minute ? kHour : kMinute;
  offset_ = timer.hour.value_or(0) * kHour + timer.minute.value_or(0) * kMinute +
            timer.second.value_or(0) * kSecond;
}

std::int64_t TimerSchedule::number_at(Timestamp timestamp) const {
  const Int128 distance = Int128{timestamp} - offset_;
  const Int128 quotient = distance / period_;
  return static_cast<std::int64_t>(distance % period_ < 0 ? quotient - 1 : quotient);
}

std::optional<Timestamp> TimerSchedule::next_after(Timestamp timestamp) const {
  const Int128 next = (Int128{number_at(timestamp)} + 1) * period_ + offset_;
  if (next > std::numeric_limits<Timestamp>::max()) return std::nullopt;
  return static_cast<Timestamp>(next);
}

std::uint64_t TimerSchedule::count(Timestamp after, Timestamp until) const {
  if (until <= after) return 0;
  return static_cast<std::uint64_t>(Int128{number_at(until)} - number_at(after));
}

Timestamp TimerSchedule::before_latest(std::uint64_t n, Timestamp until) const {
  const Int128 instant = (Int128{number_at(until)} - static_cast<Int128>(n)) * period_ + offset_;
  return static_cast<Timestamp>(std::max<Int128>(instant, std::numeric_limits<Timestamp>::min()));
}

}  // namespace gorgo::dispatch
