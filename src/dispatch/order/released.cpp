#include "dispatch/order/released.hpp"

#include <new>

#include "base/scratch.hpp"

namespace gorgo::dispatch {

std::uint32_t Released::number_of(const std::shared_ptr<const Extras>& names) {
  if (names == nullptr) return OutputBatch::kNoExtras;
  if (!records.empty()) {
    const std::uint32_t last = records.back().extras;
    if (last != OutputBatch::kNoExtras && extras[last] == names) return last;
  }
  const auto known = numbers.find(names.get());
  if (known != numbers.end()) return known->second;
  const auto number = static_cast<std::uint32_t>(extras.size());
  extras.push_back(names);
  numbers.emplace(names.get(), number);
  for (const std::string& name : names->names) bytes += sizeof(name) + name.size();
  return number;
}

Datum Released::keep(const Datum& value) {
  if (value.tag != Datum::Tag::string) return value;
  bytes += value.length;
  return Datum::of(strings.add(value.text(), records.size()));
}

void Released::add_record(TypeId type, Timestamp timestamp, std::size_t first_cell,
                          std::uint32_t with_extras) {
  records.push_back({.type = type,
                     .timestamp = timestamp,
                     .root = events + 1,
                     .first_cell = static_cast<std::uint32_t>(first_cell),
                     .extras = with_extras});
  ++events;
  bytes += sizeof(Record) + (cells.size() - first_cell) * sizeof(Datum);
}

void Released::add_in_cells(const Kind& kind, const TableCells& from, std::uint32_t first,
                            std::span<const Timestamp> timestamps) {
  const std::size_t old_records = records.size(), old_cells = cells.size();
  const std::size_t old_bytes = bytes;
  try {
    for (const Timestamp timestamp : timestamps) {
      const std::size_t first_cell = cells.size();
      for (std::size_t i = 0; i < from.size(); ++i) cells.push_back(keep(from.at(i, first)));
      add_record(kind.type, timestamp, first_cell, kind.extras);
      ++first;
    }
  } catch (const std::bad_alloc&) {
    events -= records.size() - old_records;
    records.resize(old_records);
    cells.resize(old_cells);
    bytes = old_bytes;
    throw;
  }
}

ReleasedColumns& Released::open_columns(const Kind& kind) {
  if (kind.type == kNoType) {
    if (kind.extras >= unknown_columns.size()) unknown_columns.resize(kind.extras + 1);
    return unknown_columns[kind.extras];
  }
  if (kind.type >= columns.size()) columns.resize(kind.type + 1);
  ReleasedColumns& own = columns[kind.type];
  if (own.events() == 0 && (in_columns_.empty() || in_columns_.back() != kind.type)) {
    in_columns_.push_back(kind.type);
  }
  return own;
}

void Released::add_in_columns(const Kind& kind, std::uint32_t row,
                              std::span<const Timestamp> timestamps) {
  const std::size_t before = records.size();
  records.resize(before + timestamps.size());
  const auto cell = static_cast<std::uint32_t>(cells.size());
  std::uint64_t root = events;
  Record* record = records.data() + before;
  for (const Timestamp timestamp : timestamps) {
    // Field by field: a record that is put together elsewhere and copied has the processor wait.
    record->type = kind.type;
    record->in_columns = true;
    record->timestamp = timestamp;
    record->root = ++root;
    record->first_cell = cell;
    record->extras = kind.extras;
    record->row = row++;
    ++record;
  }
  events = root;
}

void Released::view_columns(OutputBatch& output) {
  for (const TypeId type : in_columns_) {
    columns[type].view();
    if (type >= output.columns.size()) output.columns.resize(type + 1);
    output.columns[type] = columns[type].columns();
  }
  output.unknown_columns.resize(unknown_columns.size());
  for (std::size_t i = 0; i < unknown_columns.size(); ++i) {
    unknown_columns[i].view();
    output.unknown_columns[i] = unknown_columns[i].columns();
  }
}

/// Types whose events come again and again keep the memory that they need.
void Released::clear_columns() {
  for (const TypeId type : before_) {
    if (columns[type].events() == 0) columns[type].shrink();
  }
  for (const TypeId type : in_columns_) columns[type].clear();
  before_.swap(in_columns_);
  in_columns_.clear();
  // Their numbers are given anew each time, so that those that are left over are in use no more.
  if (unknown_columns.size() > extras.size()) unknown_columns.resize(extras.size());
  for (ReleasedColumns& unknown : unknown_columns) unknown.clear();
}

void Released::clear() {
  clear_columns();
  clear_scratch(records);
  clear_scratch(cells);
  strings.clear();
  if (!extras.empty()) {
    extras.clear();
    numbers.clear();
  }
  bytes = 0;
  events = ticks = 0;
  last_unseen = std::nullopt;
}

}  // namespace gorgo::dispatch
