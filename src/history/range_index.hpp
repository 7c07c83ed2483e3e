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

  /// How many events lie within the bounds, gone ones included; stops counting above `most`.
  std::size_t count(const Bounds& bounds, std::size_t most) const;
  /// Appends them, in no order.
  void collect(const Bounds& bounds, std::vector<Slot>& slots) const;

  std::size_t bytes() const;

 private:
  struct Entry {
    std::uint64_t key;
    Slot slot;
  };
  struct Run {
    std::vector<Entry> entries;  ///< by key
    Slot newest = 0;
  };

  static std::span<const Entry> within(const Run& run, const Bounds& bounds);
  void close_tail();
  void merge_last_two();

  std::uint32_t attribute_;
  const EventStore& store_;
  std::deque<Run> runs_;
  Run tail_;  // the newest events, not sorted yet
};

}  // namespace gorgo::history
