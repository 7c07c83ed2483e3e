#include "functions/times.hpp"

#include <date/date.h>
#include <date/tz.h>

#include <chrono>

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
  constexpr std::int64_t kUnit = 1'000'000'000;
  const std::int64_t rest = (time % kUnit + kUnit) % kUnit;
  const seconds offset = zone == nullptr ? seconds(0) : zone->get_info(second).offset;
  return {date::local_seconds(second.time_since_epoch() + offset), rest};
}

constexpr Int128 kSecond = 1'000'000'000;

date::local_info info_of(Int128 local, const date::time_zone* zone) {
  const Int128 whole = local / kSecond - (local % kSecond < 0 ? 1 : 0);
  return zone->get_info(date::local_seconds(seconds(static_cast<std::int64_t>(whole))));
}

/// The instant when the clocks of a zone showed `local`, which they do in this period.
Int128 instant_in(const date::sys_info& period, Int128 local) {
  return local - kSecond * period.offset.count();
}

Int128 nanoseconds_of(date::sys_seconds time) { return kSecond * time.time_since_epoch().count(); }

/// The instant when the clocks of the zone showed `local`: if they did so twice, the first one; if
/// never, the instant when they went past it.
Int128 first_instant(Int128 local, const date::time_zone* zone) {
  if (zone == nullptr) return local;
  const date::local_info info = info_of(local, zone);
  if (info.result == date::local_info::nonexistent) return nanoseconds_of(info.first.end);
  return instant_in(info.first, local);
}

/// What the clocks showed twice, because they were put back, in local nanoseconds.
struct Repeated {
  Int128 begin, end;
  Int128 put_back;  ///< the instant when that was done
  date::sys_info again;

  explicit Repeated(const date::local_info& info)
      : put_back(nanoseconds_of(info.first.end)), again(info.second) {
    begin = put_back + kSecond * info.second.offset.count();
    end = put_back + kSecond * info.first.offset.count();
  }
};

/// When the span began, of those from `local` on with this width, that `time` lies in. Where clocks
/// were put back, a span that lies in what they showed twice, or crosses its end, comes twice. One
/// that all of it lies in goes on. One that crosses its beginning comes again when they are put
/// back. So the beginnings never decrease with time.
Int128 beginning_of_span(Int128 local, Duration width, Timestamp time,
                         const date::time_zone* zone) {
  if (zone == nullptr) return local;
  const date::local_info begun = info_of(local, zone);
  if (begun.result == date::local_info::ambiguous) {
    const Repeated repeated(begun);
    const bool goes_on = local == repeated.begin && local + width > repeated.end;
    const Int128 second = instant_in(repeated.again, local);
    if (!goes_on && second <= time) return second;
    return instant_in(begun.first, local);
  }
  const date::local_info now = info_of(local_time_at(time, zone), zone);
  if (now.result == date::local_info::ambiguous) {
    const Repeated repeated(now);
    const bool comes_again = local < repeated.begin && local + width < repeated.end;
    if (comes_again && time >= repeated.put_back) return repeated.put_back;
  }
  return first_instant(local, zone);
}

Datum truncated(Timestamp time, Duration width, const date::time_zone* zone) {
  constexpr Int128 kMonday = Int128{-3} * 86'400 * 1'000'000'000;  // 29 December 1969
  if (width <= 0) return Datum::none();
  const Int128 local = local_time_at(time, zone);
  Int128 behind = (local - kMonday) % width;
  if (behind < 0) behind += width;
  const Int128 result = beginning_of_span(local - behind, width, time, zone);
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
  return first_instant(local, zone);
}

}  // namespace gorgo::functions
