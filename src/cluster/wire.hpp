#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "gorgo/diagnostics.hpp"
#include "gorgo/event.hpp"
#include "gorgo/event_batch.hpp"
#include "protocol/framing.hpp"

/// What the messages of a cluster's streams hold. docs/cluster.md. Pure functions, for any thread.
namespace gorgo::cluster {

/// The gateway from which events come: a node and its journal, which counts the places.
inline constexpr const char* kFromHeader = "Gorgo-From";
/// The places of the first and the last event of the message, as `InputPlaces::text` has them. Of a
/// message of an output stream: where the composites come from, an `OutputPlace`.
inline constexpr const char* kPlaceHeader = "Gorgo-Place";
/// Nanoseconds since the Unix epoch, in decimal digits. The worker's clock has to reach this time
/// before the events of the message are appended. A message may have this and no events.
inline constexpr const char* kClockHeader = "Gorgo-Clock";
/// The version of the rules that hold from this message on. The payload is a `RulesMessage`.
inline constexpr const char* kRulesHeader = "Gorgo-Rules";

/// Brokers take messages of a megabyte, unless they are told otherwise. A message ends behind the
/// event with which it has this many bytes, about.
inline constexpr std::size_t kEnoughMessageBytes = std::size_t{512} << 10;
/// An event of a cluster has at most this many bytes, so that every message has room for its last.
inline constexpr std::size_t kMostEventBytes = std::size_t{448} << 10;

/// `12-0/17-0`: places of a gateway's journal.
struct InputPlaces {
  Place first, last;

  std::string text() const;
  static std::optional<InputPlaces> parse(std::string_view text);
};

/// `120-3-2`: the second composite that follows from row 3 of the message with sequence 120. Rows
/// count from 0, ordinals from 1. The places of a partition's composites ascend.
struct OutputPlace {
  std::uint64_t sequence = 0;  ///< in the input stream
  std::uint32_t row = 0;
  std::uint32_t ordinal = 0;

  std::string text() const;
  static std::optional<OutputPlace> parse(std::string_view text);
  friend auto operator<=>(const OutputPlace&, const OutputPlace&) = default;
};

/// A payload of events: a `Deliver` frame of the native protocol with the place of each row. All
/// events have timestamps. Precondition: as many places as events.
protocol::Bytes encode_events(const EventBatch& events, std::span<const Place> places);

/// Events that have come in a message. It owns them.
class ReceivedEvents {
 public:
  /// An error: this is no such payload. Whoever reads it must not stop for that.
  static Result<ReceivedEvents> decode(std::string_view payload);

  std::uint32_t events() const { return static_cast<std::uint32_t>(places_.size()); }
  /// By row, in the order of `batch`.
  const std::vector<Place>& places() const { return places_; }
  /// Refers into this object.
  EventBatch batch() const;

 private:
  protocol::Bytes frame_;
  const wire::Deliver* deliver_ = nullptr;  // in `frame_`
  std::vector<Place> places_;
};

/// A rule file of the cluster.
struct RuleText {
  std::string name;  ///< of the deployment: its stem names unnamed rules
  std::string text;

  friend bool operator==(const RuleText&, const RuleText&) = default;
};

/// The rules that a partition has from a message on. A worker deploys all texts, in their order,
/// and removes the rules that `rules` does not name: so types are inferred as on one machine.
struct RulesMessage {
  std::uint64_t version = 0;
  std::vector<RuleText> texts;
  std::vector<std::string> rules;  ///< full names of those that the family has

  std::string to_json() const;
  static Result<RulesMessage> parse(std::string_view json);
  friend bool operator==(const RulesMessage&, const RulesMessage&) = default;
};

}  // namespace gorgo::cluster
