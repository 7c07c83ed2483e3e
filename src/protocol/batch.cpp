#include "protocol/batch.hpp"

#include <vector>

namespace gorgo::protocol {
namespace {

template <class T>
flatbuffers::Offset<flatbuffers::Vector<T>> vector_or_none(flatbuffers::FlatBufferBuilder& builder,
                                                           std::span<const T> values) {
  return values.empty() ? 0 : builder.CreateVector(values.data(), values.size());
}

EventColumn view_of(const wire::Column& column) {
  return {.name = column.name()->string_view(),
          .type = static_cast<ValueType>(column.type()),
          .integers = span_of(column.ints()),
          .floats = span_of(column.floats()),
          .booleans = span_of(column.bools()),
          .ends = span_of(column.ends()),
          .bytes = span_of(column.bytes()),
          .present = span_of(column.present())};
}

flatbuffers::Offset<wire::Column> pack(flatbuffers::FlatBufferBuilder& builder,
                                       const EventColumn& column) {
  const auto name = builder.CreateString(column.name);
  const auto ints = vector_or_none(builder, column.integers);
  const auto floats = vector_or_none(builder, column.floats);
  const auto bools = vector_or_none(builder, column.booleans);
  const auto ends = vector_or_none(builder, column.ends);
  const auto bytes = vector_or_none(builder, column.bytes);
  const auto present = vector_or_none(builder, column.present);
  return wire::CreateColumn(builder, name, static_cast<wire::ValueType>(column.type), ints, floats,
                            bools, ends, bytes, present);
}

flatbuffers::Offset<wire::EventTable> pack(flatbuffers::FlatBufferBuilder& builder,
                                           const EventTable& table) {
  std::vector<flatbuffers::Offset<wire::Column>> columns;
  for (const EventColumn& column : table.columns) columns.push_back(pack(builder, column));
  const auto type = builder.CreateString(table.type);
  const auto timestamps = vector_or_none(builder, table.timestamps);
  const auto packed = columns.empty() ? 0 : builder.CreateVector(columns);
  return wire::CreateEventTable(builder, type, table.events, timestamps, packed);
}

}  // namespace

EventBatch view_of(const wire::Batch& batch) {
  EventBatch view{.tables = {}, .order = span_of(batch.order())};
  if (batch.tables() == nullptr) return view;
  view.tables.reserve(batch.tables()->size());
  for (const auto* table : *batch.tables()) {
    EventTable& added = view.tables.emplace_back(
        EventTable{table->type()->string_view(), table->rows(), span_of(table->timestamps()), {}});
    if (table->columns() == nullptr) continue;
    added.columns.reserve(table->columns()->size());
    for (const auto* column : *table->columns()) added.columns.push_back(view_of(*column));
  }
  return view;
}

flatbuffers::Offset<wire::Batch> pack(flatbuffers::FlatBufferBuilder& builder,
                                      const EventBatch& batch) {
  std::vector<flatbuffers::Offset<wire::EventTable>> tables;
  for (const EventTable& table : batch.tables) tables.push_back(pack(builder, table));
  const auto packed = tables.empty() ? 0 : builder.CreateVector(tables);
  const auto order = vector_or_none(builder, batch.order);
  return wire::CreateBatch(builder, packed, order);
}

const wire::Batch* batch_of(const wire::Message& message) {
  if (const auto* publish = message.body_as_Publish()) return publish->batch();
  const auto* trace = message.body_as_Trace();
  return trace == nullptr ? nullptr : trace->batch();
}

}  // namespace gorgo::protocol
