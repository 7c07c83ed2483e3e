#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "gorgo/event_batch.hpp"
#include "gorgo/schema.hpp"
#include "gorgo/value.hpp"

namespace gorgo::dispatch {

/// Which columns of a table the values of a cell come from.
struct CellSource {
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  std::uint32_t column = kNone;
  std::uint32_t twin = kNone;  ///< another column of the same name; kNone: there is none
};

/// The values of a table's events, cell by cell: those of the attributes of their type, then those
/// with further names. Refers to what it is made of.
class TableCells {
 public:
  /// `sources`: by cell; empty: the columns are the type's attributes, in their order. `type`: null
  /// where nobody knows it; then no cell is an attribute's.
  TableCells(const EventTable& table, std::span<const CellSource> sources, const EventType* type)
      : table_(table), sources_(sources), type_(type) {}

  std::size_t size() const { return sources_.empty() ? table_.columns.size() : sources_.size(); }
  ValueType type(std::size_t cell) const {
    return is_attribute(cell) ? type_->attributes[cell].type : column(cell).type;
  }
  /// Whether each event has just one value for each attribute, which is of the attribute's type or
  /// is an int for a float. Precondition of what follows.
  bool fits() const;
  Datum at(std::size_t cell, std::uint32_t event) const;
  /// The bytes of the strings of such events.
  std::size_t text_bytes(std::uint32_t first, std::uint32_t events) const;
  std::size_t text_bytes(std::size_t cell, std::uint32_t first, std::uint32_t events) const;
  bool has_texts() const;
  /// Adds the values of such events to a column of the cell's type.
  void push(std::size_t cell, std::uint32_t first, std::uint32_t events, ColumnBuilder& to) const;

 private:
  const EventTable& table_;
  std::span<const CellSource> sources_;
  const EventType* type_;

  bool is_attribute(std::size_t cell) const {
    return type_ != nullptr && cell < type_->attributes.size();
  }
  const EventColumn& column(std::size_t cell) const {
    return table_.columns[sources_.empty() ? cell : sources_[cell].column];
  }
  /// Null: there is none.
  const EventColumn* twin(std::size_t cell) const {
    const bool has = !sources_.empty() && sources_[cell].twin != CellSource::kNone;
    return has ? &table_.columns[sources_[cell].twin] : nullptr;
  }
  bool fits_attribute(std::size_t cell) const;
};

}  // namespace gorgo::dispatch
