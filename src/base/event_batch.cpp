#include "gorgo/event_batch.hpp"

#include <cassert>
#include <utility>

namespace gorgo {

std::uint32_t EventBatch::events() const {
  if (!order.empty()) return static_cast<std::uint32_t>(order.size());
  std::uint32_t sum = 0;
  for (const EventTable& table : tables) sum += table.events;
  return sum;
}

BatchCursor::BatchCursor(EventBatch batch)
    : batch_(std::move(batch)), passed_(batch_.tables.size(), 0), events_(batch_.events()) {
  find_table();
}

void BatchCursor::find_table() {
  if (done()) return;
  if (!batch_.order.empty()) {
    table_ = batch_.order[position_];
    return;
  }
  while (passed_[table_] == batch_.tables[table_].events) ++table_;
}

void BatchCursor::advance() {
  ++passed_[table_];
  ++position_;
  find_table();
}

std::optional<Timestamp> BatchCursor::timestamp() const {
  const auto timestamps = table().timestamps;
  if (timestamps.empty()) return std::nullopt;
  return timestamps[passed_[table_]];
}

void BatchCursor::read(std::vector<Datum>& cells) const {
  cells.clear();
  for (const EventColumn& column : table().columns) cells.push_back(value(column));
}

Event BatchCursor::to_event() const {
  Event event{std::string(table().type), timestamp(), {}};
  for (const EventColumn& column : table().columns) {
    const Datum cell = value(column);
    if (cell.exists()) event.attributes.push_back({std::string(column.name), to_value(cell)});
  }
  return event;
}

namespace {

// Bytes of a FlatBuffers table on the wire with its vtable and the lengths and padding of its
// vectors.
constexpr std::size_t kTableOverhead = 128;

}  // namespace

void BatchBuilder::Column::push(const Datum& value) {
  switch (type) {
    case ValueType::integer:
      integers.push_back(value.exists() ? value.integer : 0);
      break;
    case ValueType::floating:
      floats.push_back(value.exists() ? value.floating : 0);
      break;
    case ValueType::boolean:
      booleans.push_back(value.exists() && value.boolean ? 1 : 0);
      break;
    case ValueType::string:
      if (value.exists()) bytes.insert(bytes.end(), value.bytes, value.bytes + value.length);
      ends.push_back(static_cast<std::uint32_t>(bytes.size()));
      break;
  }
  if (events % 8 == 0) present.push_back(0);
  if (value.exists()) {
    present.back() = static_cast<std::uint8_t>(present.back() | (1u << (events % 8)));
  } else {
    ++absent;
  }
  ++events;
}

void BatchBuilder::Column::pad(std::uint32_t to) {
  while (events < to) push(Datum::none());
}

EventColumn BatchBuilder::Column::view() const {
  EventColumn column{.name = *name,
                     .type = type,
                     .integers = integers,
                     .floats = floats,
                     .booleans = booleans,
                     .ends = ends,
                     .bytes = bytes,
                     .present = {}};
  if (absent > 0) column.present = present;
  return column;
}

std::uint16_t BatchBuilder::table(std::string_view type, bool stamped) {
  if (!order_.empty()) {
    const Table& last = tables_[order_.back()];
    if (last.stamped == stamped && last.type == type) return order_.back();
  }
  Tables& known = by_type_[stamped ? 1 : 0];
  if (const auto it = known.find(type); it != known.end()) return it->second;
  assert(!full());
  bytes_ += type.size() + kTableOverhead;
  const auto index = static_cast<std::uint16_t>(tables_.size());
  tables_.push_back({std::string(type), stamped, 0, {}, {}, {}});
  known.emplace(type, index);
  return index;
}

void BatchBuilder::begin(std::uint16_t index, std::optional<Timestamp> timestamp) {
  Table& table = tables_[index];
  assert(table.stamped == timestamp.has_value());
  ++table.events;
  if (timestamp) table.timestamps.push_back(*timestamp);
  order_.push_back(index);
  bytes_ += sizeof(Timestamp) + sizeof(std::uint16_t);
  next_column_ = 0;
}

std::uint32_t BatchBuilder::column(std::string_view name, ValueType type) {
  Table& table = tables_[order_.back()];
  auto known = table.by_name.find(name);
  if (known == table.by_name.end()) known = table.by_name.emplace(name, ByType{}).first;
  std::uint32_t& number = known->second[static_cast<std::size_t>(type)];
  if (number == 0) {
    bytes_ += name.size() + kTableOverhead + table.events * (sizeof(std::int64_t) + 1);
    table.columns.push_back({&known->first, type, {}, {}, {}, {}, {}, {}});
    number = static_cast<std::uint32_t>(table.columns.size());
  }
  return number - 1;
}

void BatchBuilder::put(std::uint32_t index, const Datum& value) {
  Table& table = tables_[order_.back()];
  Column& column = table.columns[index];
  column.pad(table.events - 1);
  column.push(value);
  bytes_ += sizeof(std::int64_t) + 1 + value.length;
}

void BatchBuilder::add(std::string_view type, std::optional<Timestamp> timestamp) {
  begin(table(type, timestamp.has_value()), timestamp);
}

void BatchBuilder::attribute(std::string_view name, const Datum& value) {
  if (!value.exists()) return;
  const auto& columns = tables_[order_.back()].columns;
  const bool guessed = next_column_ < columns.size() &&
                       columns[next_column_].type == value.type() &&
                       *columns[next_column_].name == name;
  const std::uint32_t index = guessed ? next_column_ : column(name, value.type());
  put(index, value);
  next_column_ = index + 1;
}

void BatchBuilder::add(const Event& event) {
  add(event.type, event.timestamp);
  for (const Attribute& a : event.attributes) attribute(a.name, to_datum(a.value));
}

EventBatch BatchBuilder::batch() {
  EventBatch batch;
  batch.tables.reserve(tables_.size());
  for (Table& table : tables_) {
    EventTable& view =
        batch.tables.emplace_back(EventTable{table.type, table.events, table.timestamps, {}});
    for (Column& column : table.columns) {
      column.pad(table.events);
      view.columns.push_back(column.view());
    }
  }
  if (tables_.size() > 1) batch.order = order_;
  return batch;
}

}  // namespace gorgo
