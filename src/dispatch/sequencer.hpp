#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>

#include "dispatch/batch.hpp"
#include "gorgo/diagnostics.hpp"
#include "gorgo/schema.hpp"

namespace gorgo::dispatch {

/// An event as somebody publishes it. A cell without a value is an absent attribute.
struct Publication {
  std::string_view type;
  std::optional<Timestamp> timestamp;
  std::span<const std::string_view> names;
  std::span<const Datum> cells;  ///< as many as names
};

/// The sequencer: checks publications against the schema, stamps them, and gives the accepted ones
/// their number in the released sequence (TESLA.md §1, §9). Accepts non-decreasing timestamps only.
class Sequencer {
 public:
  /// `clock` stamps events; `max_ahead` unset: any timestamp may come.
  Sequencer(std::function<Timestamp()> clock, std::optional<Duration> max_ahead)
      : clock_(std::move(clock)), max_ahead_(max_ahead) {}

  /// Appends a record to the batch, or refuses the event and leaves everything as it was.
  /// Returns the event's number, from 1.
  Result<std::uint64_t> admit(const Publication& event, const Schema& schema, Batch& batch);

  /// The largest released timestamp; unset before any event.
  std::optional<Timestamp> clock() const { return released_; }

 private:
  Result<Timestamp> stamp(const Publication& event) const;

  std::function<Timestamp()> clock_;
  std::optional<Duration> max_ahead_;
  std::optional<Timestamp> released_;
  std::uint64_t count_ = 0;
};

}  // namespace gorgo::dispatch
