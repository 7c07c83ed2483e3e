#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "dispatch/evaluate/table_cells.hpp"
#include "gorgo/event_batch.hpp"
#include "gorgo/schema.hpp"

namespace gorgo::dispatch {

/// Released events of one type that came in columns: a vector for each attribute of the type, of
/// which every event has a value, and for each further name, which the records know.
class ReleasedColumns {
 public:
  std::uint32_t events() const { return events_; }
  /// The columns, in the order of cells; as they were at the last `view`.
  std::span<const EventColumn> columns() const { return views_; }

  /// Makes room for events of a table. False: no more of them can be counted, or the columns of
  /// those before are of other types.
  bool reserve(const TableCells& from, std::uint32_t first, std::uint32_t events);
  /// Adds events that there is room for, from the `first` one of the table on.
  void add(const TableCells& from, std::uint32_t first, std::uint32_t events);
  /// Says that events are to be added, until they are.
  void open() { is_open_ = true; }
  bool is_open() const { return is_open_; }
  /// Has `columns` show what there is, until the next change.
  void view();
  /// Forgets the events. Memory is kept for the next ones.
  void clear();
  /// Gives back memory that much has needed. Precondition: there are no events.
  void shrink();

 private:
  std::vector<ColumnBuilder> builders_;
  std::vector<EventColumn> views_;
  std::uint32_t events_ = 0;
  std::uint32_t most_ = 0;  // events at a time that there was room for
  bool is_open_ = false;

  bool fits(const TableCells& from) const;
};

}  // namespace gorgo::dispatch
