#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "dispatch/evaluate/batch.hpp"
#include "gorgo/processor.hpp"
#include "gorgo/schema.hpp"
#include "gorgo/value.hpp"
#include "history/string_heap.hpp"

namespace gorgo::dispatch {

/// Released events and ticks on their way to evaluation, in order of release.
struct Released {
  std::vector<Record> records;           ///< of all but the events that are unseen
  std::vector<Datum> cells;              ///< of the records, in their order and without gaps
  history::StringHeap strings;           ///< bytes of the strings in `cells`
  AllExtras extras;                      ///< each set of names once
  std::vector<ReleasedColumns> columns;  ///< by TypeId: of the records in columns
  std::vector<ReleasedColumns> unknown_columns;  ///< of a type kNoType: by index into `extras`
  std::unordered_map<const Extras*, std::uint32_t> numbers;  ///< the index of each in `extras`
  std::size_t bytes = 0;     ///< bytes that all of it takes, see `Processor::pending_bytes`
  std::uint64_t events = 0;  ///< all of them; each is the root of that number
  std::uint64_t ticks = 0;
  std::optional<Timestamp> last_unseen;  ///< the largest timestamp of those that are unseen

  /// The index of these names, which may be null, among `extras`.
  std::uint32_t number_of(const std::shared_ptr<const Extras>& names);
  void add_tick(Timestamp timestamp) {
    records.push_back({.tick = true,
                       .timestamp = timestamp,
                       .first_cell = static_cast<std::uint32_t>(cells.size())});
    ++ticks;
  }
  /// The value as a cell may have it: bytes of strings are copied to `strings`.
  Datum keep(const Datum& value);
  /// Adds the record of an event whose cells are those from `first_cell` on.
  void add_record(TypeId type, Timestamp timestamp, std::size_t first_cell,
                  std::uint32_t with_extras = OutputBatch::kNoExtras);
  /// What events of one table have in common.
  struct Kind {
    TypeId type = kNoType;
    std::uint32_t extras = OutputBatch::kNoExtras;
  };
  /// Adds records and cells of events that follow each other in their table, from the event `first`
  /// on. Where memory fails, it adds none.
  void add_in_cells(const Kind& kind, const TableCells& from, std::uint32_t first,
                    std::span<const Timestamp> timestamps);
  /// The columns that events of this kind stand in, if `open_columns` was called for them.
  ReleasedColumns& columns_of(const Kind& kind) {
    return kind.type == kNoType ? unknown_columns[kind.extras] : columns[kind.type];
  }
  /// The columns for more events of this kind.
  ReleasedColumns& open_columns(const Kind& kind);
  /// Adds records of events whose values stand in `columns_of` their kind from `row` on. Where
  /// memory fails, it adds none.
  void add_in_columns(const Kind& kind, std::uint32_t row, std::span<const Timestamp> timestamps);
  /// Adds one such record.
  void add_in_columns(const Kind& kind, std::uint32_t row, Timestamp timestamp) {
    Record& record = records.emplace_back();
    record.type = kind.type;
    record.extras = kind.extras;
    record.in_columns = true;
    record.timestamp = timestamp;
    record.root = ++events;
    record.first_cell = static_cast<std::uint32_t>(cells.size());
    record.row = row;
  }
  /// Has all columns show what there is, and notes them where rows are handed out.
  void view_columns(OutputBatch& output);
  /// Adds events that only tell the time, the largest of which is this, or an earlier one's.
  void add_unseen(std::uint64_t count, Timestamp timestamp) {
    events += count;
    last_unseen = timestamp;
  }
  /// How many events and ticks there are.
  std::size_t size() const { return events + ticks; }
  /// Where the cells of the records before this one end.
  std::uint32_t cells_before(std::size_t record) const {
    return record < records.size() ? records[record].first_cell
                                   : static_cast<std::uint32_t>(cells.size());
  }
  void clear();

 private:
  std::vector<TypeId> in_columns_;  // types with columns that are in use
  std::vector<TypeId> before_;      // those before the last `clear`

  void clear_columns();
};

}  // namespace gorgo::dispatch
