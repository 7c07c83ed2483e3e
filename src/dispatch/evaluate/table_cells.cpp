#include "dispatch/evaluate/table_cells.hpp"

#include "base/arithmetic.hpp"

namespace gorgo::dispatch {
namespace {

bool are_numbers(ValueType one, ValueType other) {
  return (one == ValueType::integer && other == ValueType::floating) ||
         (one == ValueType::floating && other == ValueType::integer);
}

/// How many of some events have a value in one of two columns, if none has in both.
enum class Shared : std::uint8_t { some, all, twice };

Shared shared_out(const EventColumn& one, const EventColumn& other, std::uint32_t events) {
  const auto bits = [](const EventColumn& column, std::size_t byte) -> unsigned {
    return column.present.empty() ? 0xFF : column.present[byte];
  };
  bool all = true;
  for (std::uint32_t first = 0; first < events; first += 8) {
    const unsigned valid = events - first < 8 ? (1u << (events - first)) - 1 : 0xFF;
    const unsigned a = bits(one, first / 8), b = bits(other, first / 8);
    if ((a & b & valid) != 0) return Shared::twice;
    all = all && ((a | b) & valid) == valid;
  }
  return all ? Shared::all : Shared::some;
}

}  // namespace

bool TableCells::fits() const {
  const std::size_t attributes = type_ == nullptr ? 0 : type_->attributes.size();
  for (std::size_t cell = 0; cell < attributes; ++cell) {
    if (!fits_attribute(cell)) return false;
  }
  for (std::size_t cell = attributes; cell < size(); ++cell) {
    const EventColumn* const other = twin(cell);
    if (other == nullptr) continue;
    if (other->type == column(cell).type) return false;
    if (shared_out(column(cell), *other, table_.events) == Shared::twice) return false;
  }
  return true;
}

bool TableCells::fits_attribute(std::size_t cell) const {
  const EventColumn& own = column(cell);
  const ValueType wanted = type(cell);
  if (const EventColumn* const other = twin(cell)) {
    return wanted == ValueType::floating && are_numbers(own.type, other->type) &&
           shared_out(own, *other, table_.events) == Shared::all;
  }
  const bool converts = wanted == ValueType::floating && own.type == ValueType::integer;
  return own.present.empty() && (own.type == wanted || converts);
}

Datum TableCells::at(std::size_t cell, std::uint32_t event) const {
  const Datum own = column(cell).at(event);
  if (!is_attribute(cell)) return own;
  const EventColumn* const other = own.exists() ? nullptr : twin(cell);
  const Datum value = other == nullptr ? own : other->at(event);
  return type(cell) == ValueType::floating ? arithmetic::to_float(value) : value;
}

std::size_t TableCells::text_bytes(std::size_t cell, std::uint32_t first,
                                   std::uint32_t events) const {
  const EventColumn& own = column(cell);
  if (own.type != ValueType::string) return 0;
  return own.begin_of(first + events) - own.begin_of(first);
}

std::size_t TableCells::text_bytes(std::uint32_t first, std::uint32_t events) const {
  std::size_t bytes = 0;
  for (std::size_t cell = 0; cell < size(); ++cell) bytes += text_bytes(cell, first, events);
  return bytes;
}

bool TableCells::has_texts() const {
  for (std::size_t cell = 0; cell < size(); ++cell) {
    if (type(cell) == ValueType::string) return true;
  }
  return false;
}

void TableCells::push(std::size_t cell, std::uint32_t first, std::uint32_t events,
                      ColumnBuilder& to) const {
  const EventColumn& own = column(cell);
  if (own.type == type(cell) && (!is_attribute(cell) || twin(cell) == nullptr)) {
    return to.push(own, first, events);
  }
  for (std::uint32_t i = 0; i < events; ++i) to.push(at(cell, first + i));
}

}  // namespace gorgo::dispatch
