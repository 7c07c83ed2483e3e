#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "gorgo/event.hpp"
#include "protocol/gorgo_generated.h"

namespace gorgo::protocol {

/// Walks the rows of a batch in their order. The batch must have passed `check_batch` and outlive
/// the reader; all texts refer into it.
class BatchReader {
 public:
  explicit BatchReader(const wire::Batch& batch);

  /// Goes to the first row, then to the next one; false behind the last.
  bool next();

  /// The number of the row's table among the tables of the batch.
  std::size_t table() const { return static_cast<std::size_t>(current_ - tables_.data()); }
  std::size_t tables() const { return tables_.size(); }
  std::string_view type() const { return current_->type; }
  /// Nothing: whoever releases the event stamps it.
  std::optional<Timestamp> timestamp() const;
  /// The names of the table's columns.
  std::span<const std::string_view> names() const { return current_->names; }
  /// A cell for each of the columns, without a value where the row has not the attribute. Valid
  /// until the next `next`.
  std::span<const Datum> cells() const { return cells_; }
  Event to_event() const;

 private:
  struct Table {
    std::string_view type;
    const wire::EventTable* wire;
    std::vector<std::string_view> names;
    std::vector<const wire::Column*> columns;
    std::uint32_t next = 0;  // rows read
  };

  std::vector<Table> tables_;
  const flatbuffers::Vector<std::uint16_t>* order_;  // null: table after table
  std::uint32_t position_ = 0;                       // in the order, or the current table
  Table* current_ = nullptr;
  std::uint32_t row_ = 0;  // of the current table
  std::vector<Datum> cells_;

  bool advance();
};

}  // namespace gorgo::protocol
