#include "codec/time_format.hpp"

#include <date/tz.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <sstream>
#include <utility>
#include <vector>

#include "codec/time_zone.hpp"
#include "codec/timestamp.hpp"

namespace gorgo::codec {

class TimeFormat::Form {
 public:
  virtual ~Form() = default;
  virtual Result<Timestamp> parse(std::string_view text) = 0;
};

namespace {

using Local = date::local_time<std::chrono::nanoseconds>;
using Fields = date::fields<std::chrono::nanoseconds>;

constexpr std::string_view kDateTime = "%Y-%m-%d %H:%M:%S";

std::string in_quotes(std::string_view text) { return "'" + std::string(text.substr(0, 60)) + "'"; }

class Automatic final : public TimeFormat::Form {
 public:
  Result<Timestamp> parse(std::string_view text) override { return parse_timestamp(text); }
};

/// A number of units since 1970. A unit is 10^-`decimals` seconds.
class Epoch final : public TimeFormat::Form {
 public:
  explicit Epoch(int decimals) : decimals_(decimals) {}

  Result<Timestamp> parse(std::string_view text) override { return parse_epoch(text, decimals_); }

 private:
  int decimals_;
};

/// A conversion of a pattern, such as `%Y` or `%Ez`.
struct Conversion {
  std::size_t begin = 0, size = 0;
  char letter = 0;
};

std::vector<Conversion> conversions_in(std::string_view pattern) {
  std::vector<Conversion> all;
  for (std::size_t at = pattern.find('%'); at < pattern.size(); at = pattern.find('%', at)) {
    const std::size_t begin = at;
    at = pattern.find_first_not_of("EO0123456789", at + 1);
    if (at == pattern.npos) break;
    all.push_back({begin, ++at - begin, pattern[at - 1]});
  }
  return all;
}

/// What a pattern does not say of the date that each time needs: "year, month and day".
std::string missing_in(const std::string& pattern) {
  std::string letters;
  for (const Conversion& each : conversions_in(pattern)) letters += each.letter;
  const auto any = [&](const char* of) { return letters.find_first_of(of) != letters.npos; };
  const bool weekday = any("aAuw");
  const bool date = any("FDcx") || (any("Gg") && any("V") && weekday);
  const bool day_of_year = any("j") || (any("UW") && weekday);
  std::vector<std::string> parts;
  if (!date && !any("Yy")) parts.emplace_back("year");
  if (!date && !day_of_year && !any("mbBh")) parts.emplace_back("month");
  if (!date && !day_of_year && !any("de")) parts.emplace_back("day");
  std::string text;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) text += i + 1 == parts.size() ? " and " : ", ";
    text += parts[i];
  }
  return text;
}

class Pattern final : public TimeFormat::Form {
 public:
  /// `zone`: null for UTC.
  Pattern(std::string pattern, const date::time_zone* zone, bool or_t)
      : pattern_(std::move(pattern)), zone_(zone), or_t_(or_t), spellings_({pattern_}) {
    for (const Conversion& each : conversions_in(pattern_)) {
      if (each.letter == 'z') offset_ = each;
    }
    if (!offset_) return;
    spellings_.clear();
    for (const char* spelt : {"%z", "%Ez", "Z"}) {
      spellings_.push_back(pattern_);
      spellings_.back().replace(offset_->begin, offset_->size, spelt);
    }
  }

  Result<Timestamp> parse(std::string_view text) override {
    text_.assign(text);
    constexpr std::size_t kDate = 10;
    if (or_t_ && text_.size() > kDate && text_[kDate] == 'T') text_[kDate] = ' ';
    Fields fields;
    std::chrono::minutes offset{0};
    if (!read(fields, offset)) {
      return Error{in_quotes(text) + " is no time of the form " + pattern_, ""};
    }
    constexpr date::year kFirst{1678}, kLast{2261};
    if (fields.ymd.year() < kFirst || fields.ymd.year() > kLast) {
      return Error{in_quotes(text) + " is out of range", "times reach from 1678 to 2261"};
    }
    const Local time = date::local_days(fields.ymd) + fields.tod.to_duration();
    if (offset_) return timestamp(time, offset);
    if (zone_ == nullptr) return timestamp(time, {});
    const auto info = zone_->get_info(time);
    if (info.result != date::local_info::nonexistent) return timestamp(time, info.first.offset);
    return Error{"there is no time " + in_quotes(text) + " in " + zone_->name() +
                     ": the clocks were put forward",
                 "is it the right time zone?"};
  }

 private:
  std::string pattern_;
  const date::time_zone* zone_;
  bool or_t_;
  std::optional<Conversion> offset_;
  std::vector<std::string> spellings_;  // the pattern, once for each spelling of the offset
  std::size_t last_ = 0;                // the one that a text had last
  std::string text_;
  std::istringstream in_;

  /// Files spell all offsets alike, so the spelling of the text before comes first.
  bool read(Fields& fields, std::chrono::minutes& offset) {
    for (std::size_t tried = 0; tried < spellings_.size(); ++tried) {
      if (read(spellings_[last_], fields, offset)) return true;
      last_ = (last_ + 1) % spellings_.size();
    }
    return false;
  }

  bool read(const std::string& pattern, Fields& fields, std::chrono::minutes& offset) {
    in_.clear();
    in_.str(text_);
    fields = {};
    offset = {};
    date::from_stream(in_, pattern.c_str(), fields, static_cast<std::string*>(nullptr), &offset);
    return read_all() && fields.ymd.ok() && fields.tod.in_conventional_range();
  }

  bool read_all() { return !in_.fail() && in_.peek() == std::istringstream::traits_type::eof(); }

  static Timestamp timestamp(Local local, std::chrono::nanoseconds offset) {
    return (local.time_since_epoch() - offset).count();
  }
};

std::optional<int> decimals_of(std::string_view unit) {
  if (unit == "s") return 0;
  if (unit == "ms") return 3;
  if (unit == "us") return 6;
  if (unit == "ns") return 9;
  return std::nullopt;
}

}  // namespace

TimeFormat::TimeFormat() : form_(std::make_shared<Automatic>()) {}

Result<TimeFormat> TimeFormat::make(const std::string& format, const std::string& zone) {
  const auto found = find_zone(zone);
  if (!found) return found.error();
  const auto decimals = decimals_of(format);
  const bool whole = format == "auto" || decimals;
  if (whole && !zone.empty()) {
    return Error{"times of the format '" + format + "' have no time zone",
                 "a zone goes with a pattern such as '" + std::string(kDateTime) + "'"};
  }
  if (format == "auto") return TimeFormat();
  if (decimals) return TimeFormat(std::make_shared<Epoch>(*decimals));
  if (format == "date time") {
    return TimeFormat(std::make_shared<Pattern>(std::string(kDateTime), *found, true));
  }
  if (format.find('%') == format.npos) {
    return Error{
        "'" + format + "' is no format of times",
        "auto, s, ms, us, ns, 'date time', or a pattern such as '" + std::string(kDateTime) + "'"};
  }
  if (const std::string missing = missing_in(format); !missing.empty()) {
    return Error{"the pattern '" + format + "' has no " + missing,
                 format == "%s" ? "the format s reads seconds since 1970"
                                : "each time has a date, such as %Y-%m-%d"};
  }
  return TimeFormat(std::make_shared<Pattern>(format, *found, false));
}

Result<Timestamp> TimeFormat::parse(std::string_view text) const { return form_->parse(text); }

}  // namespace gorgo::codec
