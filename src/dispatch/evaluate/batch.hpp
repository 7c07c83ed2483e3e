#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/scratch.hpp"
#include "dispatch/evaluate/released_columns.hpp"
#include "engine/rule_state.hpp"
#include "engine/window.hpp"
#include "gorgo/processor.hpp"
#include "gorgo/schema.hpp"
#include "gorgo/value.hpp"

namespace gorgo::dispatch {

using AllExtras = std::vector<std::shared_ptr<const Extras>>;

inline constexpr std::uint32_t kNoRecord = ~std::uint32_t{0};
inline constexpr std::uint32_t kNoRule = ~std::uint32_t{0};

using Records = std::vector<std::uint32_t>;  ///< numbers of a batch's records

/// An event from its release to its delivery, or a tick on the way to evaluation. (root, depth,
/// producer, rule, sequence) is the place of an event of the batch in hand (language.md §1):
/// producers compare by their own places.
struct Record {
  TypeId type = kNoType;
  bool dropped = false;     ///< beyond max_composites
  bool tick = false;        ///< a timestamp without an event; never in a batch
  bool in_columns = false;  ///< its values stand in columns and not in cells
  Timestamp timestamp = 0;
  std::uint64_t root = 0;              ///< counts from the last `process` until it is in a batch
  std::uint32_t depth = 0;             ///< 0 for a primitive event and for an instant of a timer
  std::uint32_t producer = kNoRecord;  ///< record of the terminator; none for the root's own event
  std::uint32_t rule = kNoRule;        ///< in rule order: the producing rule, or a timer's own
  std::uint32_t sequence = 0;          ///< rank among the composites of its terminator and rule
  std::uint32_t first_cell = 0;        ///< attributes of the type in order, then the extra ones
  std::uint32_t extras = OutputBatch::kNoExtras;  ///< index of the names of the extra ones
  std::uint32_t row = 0;                          ///< where it stands in the columns

  bool is_composite() const { return depth > 0; }
};

/// Events that are evaluated together, and their composites so far.
struct Batch {
  std::vector<Record> records;  ///< the roots' own events in order, then what came of them
  std::vector<Datum> cells;
  std::deque<std::string> texts;      ///< strings in `cells` that functions computed
  const AllExtras* extras = nullptr;  ///< what the records' `extras` index
  const std::vector<ReleasedColumns>* columns = nullptr;  ///< by TypeId: of records in columns
  /// The earliest timestamp of an event that is late within the batch. Time alone tells what stands
  /// before each record, as far as events with earlier timestamps are concerned.
  Timestamp ordered_before = engine::kEndOfTime;

  bool empty() const { return records.empty(); }
  /// Makes strings of the composite whose cells begin there the batch's own.
  void own_texts(std::uint32_t first_cell, std::span<const std::uint32_t> attributes) {
    for (const std::uint32_t attribute : attributes) {
      Datum& cell = cells[first_cell + attribute];
      cell = Datum::of(std::string_view(texts.emplace_back(cell.text())));
    }
  }
  /// The columns of a type that has records in columns.
  std::span<const EventColumn> columns_of(TypeId type) const { return (*columns)[type].columns(); }
  /// The value of an attribute of the record's type.
  Datum value_of(const Record& record, std::uint32_t attribute) const {
    if (!record.in_columns) return cells[record.first_cell + attribute];
    return columns_of(record.type)[attribute].at(record.row);
  }
  std::size_t extra_cells(const Record& record) const {
    return record.extras == OutputBatch::kNoExtras ? 0 : (*extras)[record.extras]->names.size();
  }
  void clear() {
    clear_scratch(records);
    clear_scratch(cells);
    if (!texts.empty()) texts.clear();
    ordered_before = engine::kEndOfTime;
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

/// Replaces the numbers of records by these; kNoRecord takes a record out of the list.
void renumber(Records& records, const Records& numbers);

/// The place of a record in the form that outlives the batch.
engine::PlaceKey place_key(const std::vector<Record>& records, std::uint32_t record);

}  // namespace gorgo::dispatch
