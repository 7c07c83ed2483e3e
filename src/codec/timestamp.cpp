#include "codec/timestamp.hpp"

#include <charconv>
#include <chrono>
#include <cstdint>
#include <optional>

#include "base/int128.hpp"
#include "codec/text.hpp"

namespace gorgo::codec {
namespace {

constexpr std::int64_t kPerMillisecond = 1'000'000;
constexpr std::int64_t kPerSecond = 1'000'000'000;

bool all_digits(std::string_view text) {
  if (text.empty()) return false;
  for (const char c : text) {
    if (!is_digit(c)) return false;
  }
  return true;
}

std::string quoted(std::string_view text) {
  constexpr std::size_t kShown = 60;
  return text.size() <= kShown ? "'" + std::string(text) + "'"
                               : "'" + std::string(text.substr(0, kShown)) + "...'";
}

Error out_of_range(std::string_view text) {
  return {"timestamp " + quoted(text) + " is out of range",
          "nanoseconds since 1970 in 64 bits reach from the year 1677 to 2262"};
}

/// `text` is 1 to `places` digits: the decimals of a number, read in units of 10^-places.
std::int64_t scale_decimals(std::string_view text, std::size_t places) {
  std::int64_t value = 0;
  for (std::size_t i = 0; i < places; ++i)
    value = value * 10 + (i < text.size() ? text[i] - '0' : 0);
  return value;
}

/// whole * unit + part, or nothing outside int64.
std::optional<Timestamp> combine(std::int64_t whole, std::int64_t unit, std::int64_t part) {
  const Int128 exact = static_cast<Int128>(whole) * unit + part;
  if (exact < INT64_MIN || exact > INT64_MAX) return std::nullopt;
  return static_cast<Timestamp>(exact);
}

std::string unit_name(int decimals) {
  if (decimals == 0) return "seconds";
  if (decimals == 3) return "milliseconds";
  return decimals == 6 ? "microseconds" : "nanoseconds";
}

/// Takes fixed-width fields from the front of a date.
class Fields {
 public:
  explicit Fields(std::string_view text) : rest_(text) {}

  bool number(std::size_t digits, int& value) {
    if (rest_.size() < digits || !all_digits(rest_.substr(0, digits))) return false;
    std::from_chars(rest_.data(), rest_.data() + digits, value);
    rest_.remove_prefix(digits);
    return true;
  }
  bool any_of(std::string_view characters) {
    if (rest_.empty() || characters.find(rest_.front()) == characters.npos) return false;
    last_ = rest_.front();
    rest_.remove_prefix(1);
    return true;
  }
  std::string_view digits() {
    std::size_t n = 0;
    while (n < rest_.size() && is_digit(rest_[n])) ++n;
    const std::string_view taken = rest_.substr(0, n);
    rest_.remove_prefix(n);
    return taken;
  }
  char last() const { return last_; }
  bool done() const { return rest_.empty(); }

 private:
  std::string_view rest_;
  char last_ = 0;
};

/// Appends a number with zeros in front, so that it has at least so many digits.
void append_padded(std::string& out, std::uint64_t number, std::size_t digits) {
  const std::string text = std::to_string(number);
  if (text.size() < digits) out.append(digits - text.size(), '0');
  out += text;
}

/// Appends a point and `part` in units of 10^-`places`, without the zeros at its end; nothing for
/// 0.
void append_decimals(std::string& out, std::uint64_t part, std::size_t places) {
  if (part == 0) return;
  out += '.';
  append_padded(out, part, places);
  while (out.back() == '0') out.pop_back();
}

struct DateTime {
  int year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0;
  std::string_view decimals;
  int offset_minutes = 0;
};

bool read_offset(Fields& in, DateTime& t) {
  if (in.any_of("Zz")) return true;
  if (!in.any_of("+-")) return false;
  const int sign = in.last() == '-' ? -1 : 1;
  int hours = 0, minutes = 0;
  if (!in.number(2, hours) || !in.any_of(":") || !in.number(2, minutes)) return false;
  if (hours > 23 || minutes > 59) return false;
  t.offset_minutes = sign * (hours * 60 + minutes);
  return true;
}

bool read_date_time(std::string_view text, DateTime& t) {
  Fields in(text);
  const bool date = in.number(4, t.year) && in.any_of("-") && in.number(2, t.month) &&
                    in.any_of("-") && in.number(2, t.day) && in.any_of("Tt ");
  if (!date) return false;
  const bool time = in.number(2, t.hour) && in.any_of(":") && in.number(2, t.minute) &&
                    in.any_of(":") && in.number(2, t.second);
  if (!time) return false;
  if (in.any_of(".")) {
    t.decimals = in.digits();
    if (t.decimals.empty()) return false;
  }
  return read_offset(in, t) && in.done();
}

}  // namespace

Result<Timestamp> parse_milliseconds(std::string_view text) {
  constexpr int kMilliseconds = 3;
  return parse_epoch(text, kMilliseconds);
}

Result<Timestamp> parse_epoch(std::string_view text, int decimals) {
  constexpr int kNanoseconds = 9;
  const auto places = static_cast<std::size_t>(kNanoseconds - decimals);
  std::string_view rest = text;
  const bool negative = !rest.empty() && rest.front() == '-';
  if (negative) rest.remove_prefix(1);
  const std::size_t dot = rest.find('.');
  const std::string_view whole = rest.substr(0, dot);
  const std::string_view fraction = dot == rest.npos ? "" : rest.substr(dot + 1);
  if (!all_digits(whole) || (dot != rest.npos && !all_digits(fraction))) {
    return Error{"timestamp " + quoted(text) + " is not a plain decimal number",
                 "write " + unit_name(decimals) + " without an exponent, such as 1000 or 1000.25"};
  }
  if (fraction.size() > places) {
    return Error{"timestamp " + quoted(text) + " is finer than a nanosecond",
                 places == 0 ? "nanoseconds have no decimals"
                             : "at most " + std::to_string(places) + " decimals of a number of " +
                                   unit_name(decimals)};
  }
  std::int64_t units = 0;
  const auto read = std::from_chars(whole.data(), whole.data() + whole.size(), units);
  if (read.ec != std::errc()) return out_of_range(text);
  std::int64_t unit = 1;
  for (std::size_t i = 0; i < places; ++i) unit *= 10;
  const std::int64_t part = scale_decimals(fraction, places);
  const auto timestamp = combine(negative ? -units : units, unit, negative ? -part : part);
  if (!timestamp) return out_of_range(text);
  return *timestamp;
}

Result<Timestamp> from_milliseconds(std::int64_t milliseconds) {
  const auto timestamp = combine(milliseconds, kPerMillisecond, 0);
  if (!timestamp) return out_of_range(std::to_string(milliseconds));
  return *timestamp;
}

Result<Timestamp> parse_rfc3339(std::string_view text) {
  DateTime t;
  if (!read_date_time(text, t)) {
    return Error{"timestamp " + quoted(text) + " is not an RFC 3339 time",
                 "such as 2024-05-01T12:00:00.5Z or 2024-05-01T14:00:00+02:00"};
  }
  if (t.second == 60) {
    return Error{"timestamp " + quoted(text) + " is a leap second, which has no place in Unix time",
                 "use second 59 or the second after it"};
  }
  const std::chrono::year_month_day date{std::chrono::year(t.year),
                                         std::chrono::month(static_cast<unsigned>(t.month)),
                                         std::chrono::day(static_cast<unsigned>(t.day))};
  if (!date.ok() || t.hour > 23 || t.minute > 59 || t.second > 59) {
    return Error{"timestamp " + quoted(text) + " names a day or time that does not exist", ""};
  }
  if (t.decimals.size() > 9) {
    return Error{"timestamp " + quoted(text) + " is finer than a nanosecond",
                 "at most nine decimals of a second"};
  }
  const std::int64_t days = std::chrono::sys_days(date).time_since_epoch().count();
  const std::int64_t minutes = (days * 24 + t.hour) * 60 + t.minute - t.offset_minutes;
  const auto timestamp =
      combine(minutes * 60 + t.second, kPerSecond, scale_decimals(t.decimals, 9));
  if (!timestamp) return out_of_range(text);
  return *timestamp;
}

Result<Timestamp> parse_timestamp(std::string_view text) {
  const bool date = text.size() > 4 && text[4] == '-';
  return date ? parse_rfc3339(text) : parse_milliseconds(text);
}

void append_milliseconds(std::string& out, Timestamp timestamp) {
  std::uint64_t rest = static_cast<std::uint64_t>(timestamp);
  if (timestamp < 0) {
    out += '-';
    rest = 0 - rest;
  }
  char digits[24];
  const auto whole = std::to_chars(digits, digits + sizeof digits, rest / kPerMillisecond);
  out.append(digits, whole.ptr);
  append_decimals(out, rest % kPerMillisecond, 6);
}

void append_rfc3339(std::string& out, Timestamp timestamp) {
  using namespace std::chrono;
  const sys_time<nanoseconds> time{nanoseconds(timestamp)};
  const auto day = floor<days>(time);
  const year_month_day date(day);
  const hh_mm_ss clock(time - day);
  append_padded(out, static_cast<std::uint64_t>(static_cast<int>(date.year())), 4);
  out += '-';
  append_padded(out, static_cast<unsigned>(date.month()), 2);
  out += '-';
  append_padded(out, static_cast<unsigned>(date.day()), 2);
  out += 'T';
  append_padded(out, static_cast<std::uint64_t>(clock.hours().count()), 2);
  out += ':';
  append_padded(out, static_cast<std::uint64_t>(clock.minutes().count()), 2);
  out += ':';
  append_padded(out, static_cast<std::uint64_t>(clock.seconds().count()), 2);
  append_decimals(out, static_cast<std::uint64_t>(clock.subseconds().count()), 9);
  out += 'Z';
}

}  // namespace gorgo::codec
