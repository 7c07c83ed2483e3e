#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "gorgo/diagnostics.hpp"
#include "gorgo/value.hpp"

namespace gorgo::codec {

/// How timestamps are spelt in a file. One thread at a time may use an object and its copies.
class TimeFormat {
 public:
  /// `format` is one of
  /// * "auto": milliseconds since 1970, or RFC 3339;
  /// * "s", "ms", "us" or "ns": a number of these units since 1970, with decimals or without;
  /// * a pattern of strptime such as "%Y-%m-%d %H:%M:%S", with a year, a month and a day. `%S`
  ///   takes decimals, and `%z` is +0200, +02:00 or Z;
  /// * "date time", which is short for the pattern above and also takes a `T` between date and
  /// time. A pattern without an offset (`%z`) is read as the local time of `zone`, a name such as
  /// "Europe/Rome"; empty is UTC. Errors say what is wrong with the format or the zone.
  static Result<TimeFormat> make(const std::string& format, const std::string& zone);

  /// Reads as "auto".
  TimeFormat();

  /// One way to read a time.
  class Form;

  /// A local time that a change of the clocks repeats is taken for the first of the two, and one
  /// that it leaves out is an error.
  Result<Timestamp> parse(std::string_view text) const;

 private:
  explicit TimeFormat(std::shared_ptr<Form> form) : form_(std::move(form)) {}

  std::shared_ptr<Form> form_;
};

}  // namespace gorgo::codec
