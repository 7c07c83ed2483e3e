#include "plan/period.hpp"

namespace gorgo::plan {
namespace {

constexpr Duration kSecond = 1'000'000'000, kMinute = 60 * kSecond, kHour = 60 * kMinute,
                   kDay = 24 * kHour;

}  // namespace

Duration period_of(const Timer& timer) {
  if (timer.every) return *timer.every;
  if (timer.hour) return kDay;
  return timer.minute ? kHour : kMinute;
}

Duration offset_of(const Timer& timer) {
  return timer.hour.value_or(0) * kHour + timer.minute.value_or(0) * kMinute +
         timer.second.value_or(0) * kSecond;
}

}  // namespace gorgo::plan
