#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "doors/door.hpp"
#include "doors/nats/connection.hpp"

namespace gorgo::doors::nats {

/// The end of a stream to which one door at a time writes. Each publication names the last message
/// that the stream must have, so that what nobody has looked at is not written behind: of two doors
/// that take themselves for the only one, the slower finds out with its next event. Events have
/// their places in the stream, so each is there once, for as long as the stream has its last
/// message. One thread.
class Fence {
 public:
  explicit Fence(std::string stream) : stream_(std::move(stream)) {}

  /// Finds the end of the stream. To be called before the others, and behind each failure.
  Result<void> look(jsCtx* context);
  /// How many of these events, from the first on, the stream has already. An error: it has others
  /// in their place, so another history is written there.
  Result<std::size_t> known(const Departing& events) const;
  /// Has the publication of an event fail, unless the one before is the last of the stream.
  void guard(jsPubOptions& options, const Place& place);

 private:
  const std::string stream_;
  jsCtx* context_ = nullptr;            // of the last `look`
  std::uint64_t first_ = 0, last_ = 0;  // sequences
  std::optional<Place> end_;            // of the last message; unset: there is none

  /// The line that the stream has at a sequence.
  Result<std::string> line_at(std::uint64_t sequence) const;
  Result<Place> place_at(std::uint64_t sequence) const;
  /// The line of the last event that is not behind this place.
  Result<std::string> line_of(const Place& place) const;
};

}  // namespace gorgo::doors::nats
