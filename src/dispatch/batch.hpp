#pragma once

#include <cstdint>
#include <vector>

#include "gorgo/schema.hpp"
#include "gorgo/value.hpp"
#include "history/string_heap.hpp"

namespace gorgo::dispatch {

inline constexpr std::uint32_t kNoRecord = ~std::uint32_t{0};
inline constexpr std::uint32_t kNoRule = ~std::uint32_t{0};

/// An event of the batch in hand, primitive or composite. (root, depth, producer, rule, sequence)
/// is its place (TESLA.md §1): producers compare by their own places.
struct Record {
  TypeId type = kNoType;
  Timestamp timestamp = 0;
  std::uint64_t root = 0;
  std::uint32_t depth = 0;             ///< 0 for a primitive event
  std::uint32_t producer = kNoRecord;  ///< record of the terminator
  std::uint32_t rule = kNoRule;        ///< index in rule order
  std::uint32_t sequence = 0;          ///< rank among the composites of its terminator and rule
  std::uint32_t first_cell = 0;   ///< attributes of the type in order, then pairs (name, value)
  std::uint32_t extra_cells = 0;  ///< number of cells in pairs
  bool dropped = false;           ///< beyond max_composites
};

/// The released events that are not delivered yet, and their composites so far. Primitive events
/// come first, in the order of release.
struct Batch {
  std::vector<Record> records;
  std::vector<Datum> cells;
  history::StringHeap strings;  ///< bytes of the primitive events' strings

  bool empty() const { return records.empty(); }
  void clear() {
    records.clear();
    cells.clear();
    strings.clear();
  }
};

/// Orders records of one batch by place.
class PlaceOrder {
 public:
  explicit PlaceOrder(const std::vector<Record>& records) : records_(records) {}
  bool operator()(std::uint32_t a, std::uint32_t b) const;

 private:
  const std::vector<Record>& records_;
};

}  // namespace gorgo::dispatch
