#include "language/timers.hpp"

#include <cstdint>
#include <string>
#include <string_view>

#include "codec/time_zone.hpp"

namespace gorgo::language {
namespace {

using Field = std::optional<std::int64_t>;

/// A field of the time of day, which must be less than `end`.
std::optional<std::int32_t> bind_field(std::string_view name, const Field& value, std::int64_t end,
                                       Location at, Reporter& reporter) {
  if (!value) return std::nullopt;
  if (*value >= 0 && *value < end) return static_cast<std::int32_t>(*value);
  reporter.error(at, in_quotes(name) + " of a timer must be from 0 to " + std::to_string(end - 1) +
                         ", not " + std::to_string(*value));
  return 0;
}

void bind_zone(const ast::Timer& timer, Timer& bound, Reporter& reporter) {
  if (!timer.zone) return;
  if (!timer.hour) {
    return reporter.error(timer.zone->at, "the zone of a timer goes with an hour",
                          "write for example `Timer(hour = 0, zone = \"Europe/Rome\")`");
  }
  const auto zone = codec::find_zone(timer.zone->text);
  if (!zone) return reporter.error(timer.zone->at, zone.error().message, zone.error().hint);
  bound.zone = timer.zone->text;
  bound.clock = *zone;
}

}  // namespace

std::optional<Timer> bind_timer(const ast::Timer& timer, Reporter& reporter) {
  const bool calendar = timer.hour || timer.minute || timer.second;
  if (timer.every.has_value() == calendar) {
    reporter.error(timer.at, "a timer has either a period or a time of day",
                   "write `Timer(every = 1 min)` or `Timer(hour = 9, minute = 0)`");
    return std::nullopt;
  }
  Timer bound;
  bound.every = timer.every;
  if (timer.every && *timer.every <= 0) {
    reporter.error(timer.at, "the period of a timer must be greater than 0",
                   "for example `Timer(every = 1 min)`");
  }
  bound.hour = bind_field("hour", timer.hour, 24, timer.at, reporter);
  bound.minute = bind_field("minute", timer.minute, 60, timer.at, reporter);
  bound.second = bind_field("second", timer.second, 60, timer.at, reporter);
  // Finer fields left out are 0, coarser ones any (language.md §8).
  if (bound.hour && !bound.minute) bound.minute = 0;
  if (bound.minute && !bound.second) bound.second = 0;
  bind_zone(timer, bound, reporter);
  return bound;
}

}  // namespace gorgo::language
