#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <vector>

#include "gorgo/rule.hpp"
#include "history/event_store.hpp"
#include "history/upkeep.hpp"

namespace gorgo::history {

/// The events of a column by the value of one number attribute: sorted runs, merged as they grow
/// (the logarithmic method of Bentley and Saxe, 1980), so that an event costs O(log n) amortised
/// and a search O(log^2 n) and what it finds. Runs are in order of release; events that are gone
/// are dropped when their run is merged, or as a whole. Once there are some thousands, the values
/// that there are then are divided among parts. Each part has runs of its own, so that runs are
/// shorter and several threads can take events in. Thread-safety: as its store.
class RangeIndex {
 public:
  /// A range of values as ordered words, its bounds included; `first > last`: it is empty.
  struct Bounds {
    std::uint64_t first = 0;
    std::uint64_t last = ~std::uint64_t{0};

    /// Keeps the values v with `v op operand`; an operator that is no inequality keeps all.
    /// Precondition: the operand has the attribute's type.
    void restrict_to(Op op, const Datum& operand);
  };

  /// Precondition: an int or float attribute. The store must outlive the index.
  RangeIndex(std::uint32_t attribute, const EventStore& store)
      : attribute_(attribute), store_(store), parts_(1) {}

  std::uint32_t attribute() const { return attribute_; }

  /// Takes in newly stored events, in place order.
  void add(std::span<const Slot> slots);
  /// Does what `add` does, shared among threads: call `take`, then `tidy` for each share <
  /// `shares`, which any thread may do.
  void take(std::span<const Slot> slots);
  void tidy(std::size_t share, std::size_t shares);
  /// More shares than this have nothing to do.
  std::size_t parts() const { return parts_.size(); }
  void drop_gone();

  /// Appends the events within the bounds, in no order. False when there may be more than `most`;
  /// then it has appended some of them.
  bool find(const Bounds& bounds, std::size_t most, std::vector<Slot>& slots) const;

  std::size_t bytes() const;
  /// What it takes to keep it up to date.
  Upkeep& upkeep() { return upkeep_; }
  const Upkeep& upkeep() const { return upkeep_; }

 private:
  struct Entry {
    std::uint64_t key;
    Slot slot;
  };
  struct Run {
    std::vector<Entry> entries;         ///< by key
    std::vector<std::uint64_t> fences;  ///< the first key of each block of entries
    Slot newest = 0;
  };

  /// The events with some values. On a cache line of its own, because threads change parts.
  struct alignas(64) Part {
    std::deque<Run> runs;
    std::vector<Entry> tail;  ///< the newest events, not sorted yet
  };

  static constexpr std::size_t kParts = 16;

  static Run run_of(std::vector<Entry> sorted);
  Run merged(const Run& older, const Run& newer) const;
  void tidy(Part& part) const;
  static std::size_t size_of(const Part& part);
  void divide();
  std::size_t part_of(std::uint64_t key) const;
  static std::size_t block_of(const Run& run, std::uint64_t key);
  static std::span<const Entry> within(const Run& run, std::size_t block, const Bounds& bounds,
                                       std::size_t most);
  bool find(const Part& part, const Bounds& bounds, std::size_t& room,
            std::vector<Slot>& slots) const;
  void append(std::span<const Entry> entries, std::vector<Slot>& slots) const;

  std::uint32_t attribute_;
  const EventStore& store_;
  std::vector<Part> parts_;                // one or kParts, by value
  std::vector<std::uint64_t> boundaries_;  // between them: the first key of each but the first
  Upkeep upkeep_;
};

}  // namespace gorgo::history
