#include "protocol/batch_writer.hpp"

#include <cassert>

namespace gorgo::protocol {
namespace {

// A FlatBuffers table with its vtable and the lengths and padding of its vectors.
constexpr std::size_t kTableOverhead = 128;

template <class T>
flatbuffers::Offset<flatbuffers::Vector<T>> vector_or_none(flatbuffers::FlatBufferBuilder& builder,
                                                           const std::vector<T>& values) {
  return values.empty() ? 0 : builder.CreateVector(values);
}

}  // namespace

void BatchWriter::Column::push(const Datum& value) {
  switch (type) {
    case ValueType::integer:
      ints.push_back(value.exists() ? value.integer : 0);
      break;
    case ValueType::floating:
      floats.push_back(value.exists() ? value.floating : 0);
      break;
    case ValueType::boolean:
      bools.push_back(value.exists() && value.boolean ? 1 : 0);
      break;
    case ValueType::string:
      if (value.exists()) bytes.insert(bytes.end(), value.bytes, value.bytes + value.length);
      ends.push_back(static_cast<std::uint32_t>(bytes.size()));
      break;
  }
  if (rows % 8 == 0) present.push_back(0);
  if (value.exists()) {
    present.back() = static_cast<std::uint8_t>(present.back() | (1u << (rows % 8)));
  } else {
    ++absent;
  }
  ++rows;
}

void BatchWriter::Column::pad(std::uint32_t to) {
  while (rows < to) push(Datum::none());
}

std::uint16_t BatchWriter::table(std::string_view type, bool stamped) {
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

void BatchWriter::begin(std::uint16_t index, std::optional<Timestamp> timestamp) {
  Table& table = tables_[index];
  assert(table.stamped == timestamp.has_value());
  ++table.rows;
  if (timestamp) table.timestamps.push_back(*timestamp);
  order_.push_back(index);
  bytes_ += sizeof(Timestamp) + sizeof(std::uint16_t);
  next_column_ = 0;
}

std::uint32_t BatchWriter::column(std::string_view name, ValueType type) {
  Table& table = tables_[order_.back()];
  auto known = table.by_name.find(name);
  if (known == table.by_name.end()) known = table.by_name.emplace(name, ByType{}).first;
  std::uint32_t& number = known->second[static_cast<std::size_t>(type)];
  if (number == 0) {
    bytes_ += name.size() + kTableOverhead + table.rows * (sizeof(std::int64_t) + 1);
    table.columns.push_back({&known->first, type, {}, {}, {}, {}, {}, {}});
    number = static_cast<std::uint32_t>(table.columns.size());
  }
  return number - 1;
}

void BatchWriter::put(std::uint32_t index, const Datum& value) {
  Table& table = tables_[order_.back()];
  Column& column = table.columns[index];
  column.pad(table.rows - 1);
  column.push(value);
  bytes_ += sizeof(std::int64_t) + 1 + value.length;
}

void BatchWriter::add(std::string_view type, std::optional<Timestamp> timestamp) {
  begin(table(type, timestamp.has_value()), timestamp);
}

void BatchWriter::attribute(std::string_view name, const Datum& value) {
  if (!value.exists()) return;
  const auto& columns = tables_[order_.back()].columns;
  const bool guessed = next_column_ < columns.size() &&
                       columns[next_column_].type == value.type() &&
                       *columns[next_column_].name == name;
  const std::uint32_t index = guessed ? next_column_ : column(name, value.type());
  put(index, value);
  next_column_ = index + 1;
}

void BatchWriter::add(const Event& event) {
  add(event.type, event.timestamp);
  for (const Attribute& a : event.attributes) attribute(a.name, to_datum(a.value));
}

flatbuffers::Offset<wire::Column> BatchWriter::pack(flatbuffers::FlatBufferBuilder& builder,
                                                    const Column& column) {
  const auto name = builder.CreateString(*column.name);
  const auto ints = vector_or_none(builder, column.ints);
  const auto floats = vector_or_none(builder, column.floats);
  const auto bools = vector_or_none(builder, column.bools);
  const auto ends = vector_or_none(builder, column.ends);
  const auto bytes = vector_or_none(builder, column.bytes);
  const auto present = column.absent == 0 ? 0 : builder.CreateVector(column.present);
  return wire::CreateColumn(builder, name, static_cast<wire::ValueType>(column.type), ints, floats,
                            bools, ends, bytes, present);
}

flatbuffers::Offset<wire::EventTable> BatchWriter::pack(flatbuffers::FlatBufferBuilder& builder,
                                                        Table& table) {
  std::vector<flatbuffers::Offset<wire::Column>> columns;
  for (Column& column : table.columns) {
    column.pad(table.rows);
    columns.push_back(pack(builder, column));
  }
  const auto type = builder.CreateString(table.type);
  const auto timestamps = vector_or_none(builder, table.timestamps);
  return wire::CreateEventTable(builder, type, table.rows, timestamps,
                                vector_or_none(builder, columns));
}

flatbuffers::Offset<wire::Batch> BatchWriter::finish(flatbuffers::FlatBufferBuilder& builder) {
  std::vector<flatbuffers::Offset<wire::EventTable>> tables;
  for (Table& table : tables_) tables.push_back(pack(builder, table));
  const bool in_order = tables.size() < 2;
  const auto packed = vector_or_none(builder, tables);
  return wire::CreateBatch(builder, packed, in_order ? 0 : builder.CreateVector(order_));
}

}  // namespace gorgo::protocol
