#include "gorgo/event_batch.hpp"

#include <algorithm>
#include <cassert>
#include <functional>
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

void BatchCursor::read(std::vector<Datum>& cells) const {
  const auto& columns = table().columns;
  const std::uint32_t event = row();
  cells.resize(columns.size());
  for (std::size_t i = 0; i < columns.size(); ++i) cells[i] = columns[i].at(event);
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
// Bytes that an event takes at most in each column of its table, besides those of a string.
constexpr std::size_t kCell = sizeof(std::int64_t) + 1;

/// Whether no two have the same number.
template <class List, class Number>
bool are_distinct(const List& list, Number number_of) {
  std::vector<std::uint32_t> numbers;
  for (const auto& one : list) numbers.push_back(number_of(one));
  std::ranges::sort(numbers);
  return std::ranges::adjacent_find(numbers) == numbers.end();
}

}  // namespace

/// The bit of the event that comes next.
void ColumnBuilder::note_presence(bool exists) {
  // The first event without a value says of all before it that they have one.
  if (present_.empty()) present_.assign(events_ / 8, 0xFF);
  if (present_.size() == events_ / 8) {
    const auto before = static_cast<std::uint8_t>((1u << (events_ % 8)) - 1);
    present_.push_back(before);
  }
  if (exists) {
    present_.back() = static_cast<std::uint8_t>(present_.back() | (1u << (events_ % 8)));
  }
}

void ColumnBuilder::reserve(std::uint32_t events, std::size_t bytes) {
  const auto have_room = [](auto& values, std::size_t size) {
    if (size > values.capacity()) values.reserve(std::max(size, 2 * values.capacity()));
  };
  const auto grow = [&](auto& values, std::size_t more) {
    have_room(values, values.size() + more);
  };
  have_room(present_, (events_ + std::size_t{events}) / 8 + 1);
  switch (type_) {
    case ValueType::integer:
      return grow(integers_, events);
    case ValueType::floating:
      return grow(floats_, events);
    case ValueType::boolean:
      return grow(booleans_, events);
    case ValueType::string:
      grow(ends_, events);
      return grow(bytes_, bytes);
  }
}

void ColumnBuilder::push(const EventColumn& column, std::uint32_t first, std::uint32_t events) {
  // One is pushed in less time by itself; with presence bits, each needs its own.
  if (events == 1 || !present_.empty() || !column.present.empty()) {
    for (std::uint32_t i = 0; i < events; ++i) push(column.at(first + i));
    return;
  }
  const auto add = [&](auto& values, const auto& more) {
    const auto part = more.subspan(first, events);
    values.insert(values.end(), part.begin(), part.end());
  };
  switch (type_) {
    case ValueType::integer:
      add(integers_, column.integers);
      break;
    case ValueType::floating:
      add(floats_, column.floats);
      break;
    case ValueType::boolean:
      add(booleans_, column.booleans);
      break;
    case ValueType::string: {
      const std::uint32_t begin = column.begin_of(first);
      const auto here = static_cast<std::uint32_t>(bytes_.size());
      const std::uint32_t end = column.begin_of(first + events);
      bytes_.insert(bytes_.end(), column.bytes.begin() + begin, column.bytes.begin() + end);
      for (std::uint32_t i = first; i < first + events; ++i) {
        ends_.push_back(here + (column.ends[i] - begin));
      }
      break;
    }
  }
  events_ += events;
}

void ColumnBuilder::push(const EventColumn& column, std::span<const std::uint32_t> events) {
  if (!column.present.empty() || !present_.empty()) {
    for (const std::uint32_t event : events) push(column.at(event));
    return;
  }
  const auto add = [&](auto& values, const auto& from) {
    const std::size_t before = values.size();
    values.resize(before + events.size());
    auto* next = values.data() + before;
    for (const std::uint32_t event : events) *next++ = from[event];
  };
  switch (type_) {
    case ValueType::integer:
      add(integers_, column.integers);
      break;
    case ValueType::floating:
      add(floats_, column.floats);
      break;
    case ValueType::boolean:
      add(booleans_, column.booleans);
      break;
    case ValueType::string:
      for (const std::uint32_t event : events) {
        const auto* const text = column.bytes.data();
        bytes_.insert(bytes_.end(), text + column.begin_of(event), text + column.ends[event]);
        ends_.push_back(static_cast<std::uint32_t>(bytes_.size()));
      }
      break;
  }
  events_ += static_cast<std::uint32_t>(events.size());
}

void ColumnBuilder::clear() {
  events_ = 0;
  integers_.clear();
  floats_.clear();
  booleans_.clear();
  ends_.clear();
  bytes_.clear();
  present_.clear();
}

void ColumnBuilder::pad(std::uint32_t events) {
  while (events_ < events) push(Datum::none());
}

EventColumn ColumnBuilder::view(std::string_view name) const {
  return {.name = name,
          .type = type_,
          .integers = integers_,
          .floats = floats_,
          .booleans = booleans_,
          .ends = ends_,
          .bytes = bytes_,
          .present = present_};
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
  bytes_ += sizeof(Timestamp) + sizeof(std::uint16_t) + table.columns.size() * kCell;
  next_column_ = 0;
}

std::uint32_t BatchBuilder::add_column(Table& table, const std::string& name, ValueType type) {
  bytes_ += name.size() + kTableOverhead + table.events * kCell;
  table.columns.push_back({&name, ColumnBuilder(type)});
  return static_cast<std::uint32_t>(table.columns.size() - 1);
}

std::uint32_t BatchBuilder::column(std::uint16_t index, std::string_view name, ValueType type) {
  Table& table = tables_[index];
  auto known = table.by_name.find(name);
  if (known == table.by_name.end()) known = table.by_name.emplace(name, ByType{}).first;
  std::uint32_t& number = known->second[static_cast<std::size_t>(type)];
  if (number == 0) number = add_column(table, known->first, type) + 1;
  return number - 1;
}

inline void BatchBuilder::put(Table& table, std::uint32_t index, const Datum& value) {
  ColumnBuilder& values = table.columns[index].values;
  assert(values.events() < table.events);
  if (values.events() + 1 < table.events) values.pad(table.events - 1);
  values.push(value);
  bytes_ += value.length;
}

void BatchBuilder::put(std::uint32_t column, const Datum& value) {
  put(tables_[order_.back()], column, value);
}

void BatchBuilder::put(std::uint16_t index, std::uint32_t column, const EventColumn& from,
                       std::span<const EventRun> runs) {
  Table& table = tables_[index];
  ColumnBuilder& values = table.columns[column].values;
  std::uint32_t events = 0;
  for (const EventRun& run : runs) events += run.events;
  values.pad(table.events - events);
  for (const EventRun& run : runs) values.push(from, run.first, run.events);
}

void BatchBuilder::put(std::uint16_t index, std::uint32_t column, const EventColumn& from,
                       std::span<const std::uint32_t> events) {
  Table& table = tables_[index];
  ColumnBuilder& values = table.columns[column].values;
  values.pad(table.events - static_cast<std::uint32_t>(events.size()));
  values.push(from, events);
}

/// The number of another column of the same name and type that has no value for the last event yet.
std::uint32_t BatchBuilder::further_column(Table& table, std::uint32_t given) {
  const std::string& name = *table.columns[given].name;
  const ValueType type = table.columns[given].values.type();
  for (std::uint32_t i = given + 1; i < table.columns.size(); ++i) {
    const Column& column = table.columns[i];
    const bool same = column.name == &name && column.values.type() == type;
    if (same && column.values.events() < table.events) return i;
  }
  return add_column(table, name, type);
}

void BatchBuilder::add(std::string_view type, std::optional<Timestamp> timestamp) {
  begin(table(type, timestamp.has_value()), timestamp);
}

void BatchBuilder::attribute(std::string_view name, const Datum& value) {
  attribute(tables_[order_.back()], name, value);
}

inline void BatchBuilder::attribute(Table& table, std::string_view name, const Datum& value) {
  if (!value.exists()) return;
  const auto& columns = table.columns;
  const bool guessed = next_column_ < columns.size() &&
                       columns[next_column_].values.type() == value.type() &&
                       *columns[next_column_].name == name;
  std::uint32_t index = guessed ? next_column_ : column(order_.back(), name, value.type());
  if (columns[index].values.events() == table.events) index = further_column(table, index);
  put(table, index, value);
  next_column_ = index + 1;
}

void BatchBuilder::add(const Event& event) {
  add(event.type, event.timestamp);
  Table& table = tables_[order_.back()];
  for (const Attribute& a : event.attributes) attribute(table, a.name, to_datum(a.value));
}

std::vector<BatchBuilder::Destination> BatchBuilder::destinations_of(const EventBatch& batch) {
  std::vector<Destination> all;
  for (const EventTable& from : batch.tables) {
    Destination& to = all.emplace_back(Destination{table(from.type, !from.timestamps.empty()), {}});
    for (const EventColumn& values : from.columns) {
      to.columns.push_back(column(to.table, values.name, values.type));
    }
  }
  return all;
}

void BatchBuilder::add(const EventBatch& batch) {
  const auto to = destinations_of(batch);
  const auto table_of = [](const Destination& one) { return one.table; };
  const bool has_twins =
      !are_distinct(to, table_of) || std::ranges::any_of(to, [](const Destination& one) {
        return !are_distinct(one.columns, std::identity());
      });
  if (has_twins) {
    for (BatchCursor next(batch); !next.done(); next.advance()) add(next.to_event());
    return;
  }
  for (BatchCursor next(batch); !next.done(); next.advance()) {
    begin(to[next.table_number()].table, next.timestamp());
  }
  put_columns(batch, to);
}

/// Gives the events that were begun last, all those of the batch, their values.
void BatchBuilder::put_columns(const EventBatch& batch, std::span<const Destination> to) {
  for (std::size_t t = 0; t < to.size(); ++t) {
    const EventTable& from = batch.tables[t];
    Table& table = tables_[to[t].table];
    for (std::size_t c = 0; c < from.columns.size(); ++c) {
      ColumnBuilder& values = table.columns[to[t].columns[c]].values;
      values.pad(table.events - from.events);
      values.push(from.columns[c], 0, from.events);
      bytes_ += from.columns[c].bytes.size();
    }
  }
}

EventBatch BatchBuilder::batch() {
  EventBatch batch;
  batch.tables.reserve(tables_.size());
  for (Table& table : tables_) {
    EventTable& view =
        batch.tables.emplace_back(EventTable{table.type, table.events, table.timestamps, {}});
    for (Column& column : table.columns) {
      column.values.pad(table.events);
      view.columns.push_back(column.values.view(*column.name));
    }
  }
  if (tables_.size() > 1) batch.order = order_;
  return batch;
}

}  // namespace gorgo
