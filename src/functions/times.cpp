#include "functions/times.hpp"

#include <date/date.h>
#include <date/tz.h>

#include <chrono>
#include <limits>

#include "base/int128.hpp"
#include "functions/computed_texts.hpp"

namespace gorgo::functions {
namespace {

using std::chrono::nanoseconds;
using std::chrono::seconds;

/// An instant on the clocks of a zone: whole seconds, rounded down, and the nanoseconds behind
/// them. Seconds do not overflow at either end of the range of timestamps.
struct LocalTime {
  date::local_seconds second;
  std::int64_t rest = 0;
};

date::sys_seconds second_of(Timestamp time) {
  return std::chrono::floor<seconds>(date::sys_time<nanoseconds>(nanoseconds(time)));
}

LocalTime local_time(Timestamp time, const date::time_zone* zone) {
  const date::sys_seconds second = second_of(time);
  constexpr std::int64_t kSecond = 1'000'000'000;
  const std::int64_t rest = (time % kSecond + kSecond) % kSecond;
  const seconds offset = zone == nullptr ? seconds(0) : zone->get_info(second).offset;
  return {date::local_seconds(second.time_since_epoch() + offset), rest};
}

/// The instant when the clocks of the zone showed `local`: if they did so twice, the last time that
/// is not behind `latest`; if never, the instant when they went past it.
Int128 instant(Int128 local, Timestamp latest, const date::time_zone* zone) {
  constexpr Int128 kSecond = 1'000'000'000;
  if (zone == nullptr) return local;
  const Int128 whole = local / kSecond - (local % kSecond < 0 ? 1 : 0);
  const auto info = zone->get_info(date::local_seconds(seconds(static_cast<std::int64_t>(whole))));
  const auto with = [&](const date::sys_info& period) {
    return local - kSecond * period.offset.count();
  };
  if (info.result == date::local_info::nonexistent) {
    return kSecond * info.first.end.time_since_epoch().count();
  }
  const bool twice = info.result == date::local_info::ambiguous;
  return twice && with(info.second) <= latest ? with(info.second) : with(info.first);
}

Datum truncated(Timestamp time, Duration width, const date::time_zone* zone) {
  constexpr Int128 kMonday = Int128{-3} * 86'400 * 1'000'000'000;  // 29 December 1969
  if (width <= 0) return Datum::none();
  const Int128 local = local_time_at(time, zone);
  Int128 behind = (local - kMonday) % width;
  if (behind < 0) behind += width;
  const Int128 result = instant(local - behind, time, zone);
  const auto fits = static_cast<std::int64_t>(result);
  return fits == result ? Datum::of(fits) : Datum::none();
}

Datum field(Function function, date::local_seconds local) {
  const date::local_days day = std::chrono::floor<date::days>(local);
  const date::year_month_day ymd(day);
  const date::hh_mm_ss clock(local - day);
  const auto number = [](auto value) { return Datum::of(static_cast<std::int64_t>(value)); };
  switch (function) {
    case Function::year:
      return number(static_cast<int>(ymd.year()));
    case Function::month:
      return number(static_cast<unsigned>(ymd.month()));
    case Function::day:
      return number(static_cast<unsigned>(ymd.day()));
    case Function::hour:
      return number(clock.hours().count());
    case Function::minute:
      return number(clock.minutes().count());
    case Function::second:
      return number(clock.seconds().count());
    case Function::weekday:
      return number(date::weekday(day).iso_encoding());
    default:
      return Datum::of(ComputedTexts::keep(date::format("%F", ymd)));
  }
}

}  // namespace

Datum call_on_time(Function function, std::span<const Datum> arguments,
                   const date::time_zone* zone) {
  const Timestamp time = arguments[0].integer;
  if (function == Function::truncate) return truncated(time, arguments[1].integer, zone);
  return field(function, local_time(time, zone).second);
}

Int128 local_time_at(Timestamp time, const date::time_zone* zone) {
  const LocalTime now = local_time(time, zone);
  return Int128{now.second.time_since_epoch().count()} * 1'000'000'000 + now.rest;
}

Int128 instant_of_local(Int128 local, const date::time_zone* zone) {
  return instant(local, std::numeric_limits<Timestamp>::min(), zone);
}

}  // namespace gorgo::functions
