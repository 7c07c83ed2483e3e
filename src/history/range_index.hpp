#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <vector>

#include "gorgo/rule.hpp"
#include "history/event_store.hpp"

namespace gorgo::history {

/// The events of a column by the value of one number attribute: sorted runs, merged as they grow
/// (the logarithmic method of Bentley and Saxe, 1980), so that an event costs O(log n) amortised
/// and a search O(log^2 n) and what it finds. Runs are in order of release; events that are gone
/// are dropped when their run is merged, or as a whole. Same threads as its store.
class RangeIndex {
 public:
  /// Values as ordered words; `first > last`: none. Bounds are part of it.
  struct Bounds {
    std::uint64_t first = 0;
    std::uint64_t last = ~std::uint64_t{0};

    /// Keeps the values v with `v op operand`; an operator that is no inequality keeps all.
    /// Precondition: the operand has the attribute's type.
    void restrict_to(Op op, const Datum& operand);
  };

  /// Precondition: an int or float attribute. The store must outlive the index.
  RangeIndex(std::uint32_t attribute, const EventStore& store)
      : attribute_(attribute), store_(store) {}

  std::uint32_t attribute() const { return attribute_; }

  /// Takes in newly stored events, in place order.
  void add(std::span<const Slot> slots);
  void drop_gone();

  /// Appends the events within the bounds, in no order. False when there may be more than `most`;
  /// then it has appended some of them.
  bool find(const Bounds& bounds, std::size_t most, std::vector<Slot>& slots) const;

  std::size_t bytes() const;

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

  static Run sorted(std::vector<Entry> entries);
  Run merged(const Run& older, const Run& newer) const;
  static std::size_t block_of(const Run& run, std::uint64_t key);
  static std::span<const Entry> within(const Run& run, std::size_t block, const Bounds& bounds,
                                       std::size_t most);
  void append(std::span<const Entry> entries, std::vector<Slot>& slots) const;
  void close_tail();

  std::uint32_t attribute_;
  const EventStore& store_;
  std::deque<Run> runs_;
  std::vector<Entry> tail_;  // the newest events, not sorted yet
};

}  // namespace gorgo::history
