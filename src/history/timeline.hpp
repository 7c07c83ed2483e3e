#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "history/event_store.hpp"
#include "history/range.hpp"
#include "history/upkeep.hpp"

namespace gorgo::history {

/// The events of a column in (timestamp, place) order, with the attributes that are compared laid
/// out for scanning. Thread-safety: as its store.
class Timeline {
 public:
  /// The store must outlive the timeline.
  explicit Timeline(const EventStore& store) : store_(store) {}

  /// Materialises further attributes.
  void materialise(std::span<const std::uint32_t> attributes);
  /// Takes in newly stored events, in place order. Where some are late, all together cost the
  /// events behind the first of them.
  void add(std::span<const Slot> slots);
  /// Fetches the newest event; a hint.
  void prefetch() const {
    __builtin_prefetch(timestamps_.at(end()));
    __builtin_prefetch(slots_.at(end()));
  }
  /// Drops the events up to `timestamp`.
  void drop_until(Timestamp timestamp);

  std::uint64_t begin() const { return slots_.begin(); }
  std::uint64_t end() const { return slots_.end(); }
  Slot slot(std::uint64_t position) const { return slots_[position]; }
  Timestamp timestamp(std::uint64_t position) const { return timestamps_[position]; }
  /// Precondition: materialised.
  const AttributeVector& attribute(std::uint32_t index) const { return *attributes_[index]; }

  /// The positions with `after < timestamp < before`.
  Range window(Timestamp after, Timestamp before) const;
  /// Finds the same positions by looking first around `near`, a range that is thought to be close.
  Range window(Timestamp after, Timestamp before, const Range& near) const;
  std::size_t bytes() const;
  /// What it takes to keep it up to date.
  Upkeep& upkeep() { return upkeep_; }
  const Upkeep& upkeep() const { return upkeep_; }

 private:
  /// Whether the events stand behind all others by time, in this order.
  bool are_latest(std::span<const Slot> slots) const;
  void insert(std::span<const Slot> slots);
  /// The first position whose timestamp is above `timestamp`.
  std::uint64_t first_after(Timestamp timestamp) const;

  const EventStore& store_;
  SlidingVector<Timestamp> timestamps_;
  SlidingVector<Slot> slots_;
  std::vector<std::optional<AttributeVector>> attributes_;  // by attribute of the type
  Upkeep upkeep_;
};

}  // namespace gorgo::history
