#pragma once

#include <optional>
#include <vector>

#include "history/event_store.hpp"
#include "plan/plan.hpp"

namespace gorgo::history {

/// Positions [first, last) of a column.
struct Range {
  std::uint64_t first = 0;
  std::uint64_t last = 0;

  bool empty() const { return first >= last; }
};

/// A shared column: the events of one type that satisfy constant conditions, in (timestamp, place)
/// order, with the attributes that its plans read laid out for scanning. Same threads as its store.
class Column {
 public:
  /// Takes in what the store holds already. The store must outlive the column.
  Column(const plan::ColumnSpec& spec, const EventStore& store);

  /// Materialises further attributes.
  void materialise(const std::vector<std::uint32_t>& attributes);
  /// Takes in a newly stored event if it satisfies the conditions. Slots come in place order.
  void offer(Slot slot);
  /// Drops the events up to `timestamp`.
  void drop_until(Timestamp timestamp);

  const EventStore& store() const { return store_; }
  std::uint64_t begin() const { return slots_.begin(); }
  std::uint64_t end() const { return slots_.end(); }
  Slot slot(std::uint64_t position) const { return slots_[position]; }
  Timestamp timestamp(std::uint64_t position) const { return timestamps_[position]; }
  /// Precondition: materialised.
  const AttributeVector& attribute(std::uint32_t index) const { return *attributes_[index]; }

  /// The positions with `after < timestamp < before`.
  Range window(Timestamp after, Timestamp before) const;
  std::size_t bytes() const;

 private:
  /// The first position whose timestamp is above `timestamp`.
  std::uint64_t first_after(Timestamp timestamp) const;

  const EventStore& store_;
  std::vector<Expr> conditions_;
  SlidingVector<Timestamp> timestamps_;
  SlidingVector<Slot> slots_;
  std::vector<std::optional<AttributeVector>> attributes_;  // by attribute of the type
};

}  // namespace gorgo::history
