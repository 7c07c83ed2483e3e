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
  std::string_view rest = text;
  const bool negative = !rest.empty() && rest.front() == '-';
  if (negative) rest.remove_prefix(1);
  const std::size_t dot = rest.find('.');
  const std::string_view whole = rest.substr(0, dot);
  const std::string_view decimals = dot == rest.npos ? "" : rest.substr(dot + 1);
  if (!all_digits(whole) || (dot != rest.npos && !all_digits(decimals))) {
    return Error{"timestamp " + quoted(text) + " is not a plain decimal number",
                 "write milliseconds without an exponent, such as 1000 or 1000.25"};
  }
  if (decimals.size() > 6) {
    return Error{"timestamp " + quoted(text) + " is finer than a nanosecond",
                 "at most six decimals of a millisecond"};
  }
  std::int64_t milliseconds = 0;
  const auto read = std::from_chars(whole.data(), whole.data() + whole.size(), milliseconds);
  if (read.ec != std::errc()) return out_of_range(text);
  const std::int64_t part = scale_decimals(decimals, 6);
  const auto timestamp =
      combine(negative ? -milliseconds : milliseconds, kPerMillisecond, negative ? -part : part);
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
  std::uint64_t part = rest % kPerMillisecond;
  if (part == 0) return;
  char decimals[6];
  for (int i = 5; i >= 0; --i, part /= 10) decimals[i] = static_cast<char>('0' + part % 10);
  std::string_view shown(decimals, 6);
  shown = shown.substr(0, shown.find_last_not_of('0') + 1);
  out += '.';
  out += shown;
}

}  // namespace gorgo::codec
