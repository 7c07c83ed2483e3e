#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gorgo/event_batch.hpp"
#include "gorgo/value.hpp"

namespace gorgo::bench {

/// Generated events in columns. Tables and columns have no names: the columns of a table are the
/// attributes of its type, in their order.
struct GeneratedBatch {
  EventBatch events;
  std::vector<std::uint32_t> types;  ///< for each table, an index into `Workload::types`
};

/// Collects generated events.
class GeneratedEvents {
 public:
  /// Has events of these types left out when they are added. By index into `Workload::types`; those
  /// beyond its end are kept.
  void leave_out(std::vector<bool> types) { left_out_ = std::move(types); }

  /// Begins the next event. `type`: an index into `Workload::types`.
  void add(std::uint32_t type, Timestamp timestamp) {
    taken_ = type >= left_out_.size() || !left_out_[type];
    if (!taken_) return;
    const std::uint16_t number = table_of(type);
    tables_[number].timestamps.push_back(timestamp);
    order_.push_back(number);
    next_column_ = 0;
  }
  void add(std::uint32_t type, Timestamp timestamp, std::initializer_list<Datum> cells) {
    add(type, timestamp);
    for (const Datum& datum : cells) cell(datum);
  }
  /// One more cell of the event that was added last. All events of a type have as many cells, of
  /// the same types.
  void cell(const Datum& datum) {
    if (!taken_) return;
    auto& columns = tables_[order_.back()].columns;
    if (next_column_ == columns.size()) columns.emplace_back(datum.type());
    columns[next_column_++].push(datum);
  }
  /// A string that lives until the events are cleared.
  Datum text(std::string text) {
    return Datum::of(std::string_view(texts_.emplace_back(std::move(text))));
  }

  std::size_t size() const { return order_.size(); }
  void clear() {
    for (const Table& table : tables_) numbers_[table.type] = kNone;
    tables_.clear();
    order_.clear();
    texts_.clear();
  }
  /// Valid until the next change.
  GeneratedBatch batch() const {
    GeneratedBatch batch;
    for (const Table& table : tables_) {
      const auto events = static_cast<std::uint32_t>(table.timestamps.size());
      EventTable& view = batch.events.tables.emplace_back();
      view.events = events;
      view.timestamps = table.timestamps;
      for (const ColumnBuilder& column : table.columns) view.columns.push_back(column.view({}));
      batch.types.push_back(table.type);
    }
    batch.events.order = order_;
    return batch;
  }

 private:
  struct Table {
    std::uint32_t type;
    std::vector<Timestamp> timestamps;
    std::vector<ColumnBuilder> columns;
  };

  static constexpr std::uint16_t kNone = 0xFFFF;

  std::vector<Table> tables_;           // of the types that have events
  std::vector<std::uint16_t> numbers_;  // of tables, by type
  std::vector<std::uint16_t> order_;
  std::size_t next_column_ = 0;
  bool taken_ = false;  // the event that was added last
  std::vector<bool> left_out_;
  std::deque<std::string> texts_;

  std::uint16_t table_of(std::uint32_t type) {
    if (type >= numbers_.size()) numbers_.resize(type + 1, kNone);
    if (numbers_[type] == kNone) {
      numbers_[type] = static_cast<std::uint16_t>(tables_.size());
      tables_.push_back({type, {}, {}});
    }
    return numbers_[type];
  }
};

}  // namespace gorgo::bench
