#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "gorgo/diagnostics.hpp"
#include "protocol/trex/packets.hpp"

namespace gorgo::protocol::trex {

/// Reads the primitive encodings of a packet's body, all of them big-endian. From the first thing
/// that is wrong on, everything reads as zero and nothing; `error` says what it was.
class BodyReader {
 public:
  explicit BodyReader(std::span<const std::uint8_t> body) : body_(body) {}

  std::uint8_t byte(std::string_view what);
  std::int32_t integer(std::string_view what);
  std::int64_t long_integer(std::string_view what);
  float floating(std::string_view what);
  std::string_view text(std::string_view what);
  /// The number of elements that follow, each of which takes `least` bytes or more. So it is never
  /// more than the rest of the body can hold.
  std::size_t count(std::size_t least, std::string_view what);
  /// A byte that stands for one of the values up to `last`.
  template <class Enum>
  Enum choice(Enum last, std::string_view what) {
    const std::uint8_t value = byte(what);
    if (value > static_cast<std::uint8_t>(last)) {
      fail("has " + std::to_string(value) + " for " + std::string(what));
    }
    return failed() ? Enum{} : static_cast<Enum>(value);
  }
  Literal literal();

  /// `what` continues "the packet".
  void fail(std::string what);
  bool failed() const { return !problem_.empty(); }
  /// Precondition: `failed()`.
  Error error() const;
  std::size_t left() const { return body_.size() - at_; }

 private:
  std::span<const std::uint8_t> body_;
  std::size_t at_ = 0;
  std::string problem_;

  /// Null: there are not so many.
  const std::uint8_t* take(std::size_t bytes, std::string_view what);
  template <class T>
  T big_endian(std::string_view what);
};

}  // namespace gorgo::protocol::trex
