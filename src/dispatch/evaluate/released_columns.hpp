#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "gorgo/event_batch.hpp"
#include "gorgo/schema.hpp"

namespace gorgo::dispatch {

/// The columns of a table in the order of cells: those of the attributes of the events' type, then
/// those with extra names. Refers to both.
class OrderedColumns {
 public:
  /// `order`: by cell, the number of its column; empty: the columns stand in the order of cells.
  OrderedColumns(const EventTable& table, std::span<const std::uint32_t> order)
      : table_(table), order_(order) {}

  const EventTable& table() const { return table_; }
  std::size_t size() const { return table_.columns.size(); }
  const EventColumn& operator[](std::size_t cell) const {
    return table_.columns[order_.empty() ? cell : order_[cell]];
  }

 private:
  const EventTable& table_;
  std::span<const std::uint32_t> order_;
};

/// Released events of one type that came in columns: a vector for each attribute of the type and
/// for each further value of an event, whose names the records know. Every event has all values.
class ReleasedColumns {
 public:
  std::uint32_t events() const { return events_; }
  /// The columns, in the order of cells; as they were at the last `view`.
  std::span<const EventColumn> columns() const { return views_; }

  /// Makes room for events of a table. False: no more of them can be counted, or the columns of
  /// those before are of other types.
  bool reserve(const OrderedColumns& from, std::uint32_t first, std::uint32_t events);
  /// Adds events that there is room for, from the `first` one of the table on.
  void add(const OrderedColumns& from, std::uint32_t first, std::uint32_t events);
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

  bool fits(const OrderedColumns& from) const;
};

/// The bytes of the strings of such events.
std::size_t text_bytes(const EventTable& table, std::uint32_t first, std::uint32_t events);

}  // namespace gorgo::dispatch
