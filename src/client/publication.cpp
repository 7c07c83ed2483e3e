#include "client/publication.hpp"

#include <string>
#include <string_view>

#include "protocol/batch.hpp"

namespace gorgo::client {
namespace {

std::size_t size_of(const Event& event) {
  std::size_t size = event.type.size() + 64;
  for (const Attribute& a : event.attributes) {
    const auto* text = std::get_if<std::string>(&a.value);
    size += a.name.size() + 160 + (text == nullptr ? 0 : text->size());
  }
  return size;
}

/// Adds the event at which the cursor stands.
void add(const BatchCursor& event, BatchBuilder& collected) {
  collected.add(event.table().type, event.timestamp());
  for (const EventColumn& column : event.table().columns) {
    collected.attribute(column.name, event.value(column));
  }
}

std::string_view first_type(const EventBatch& batch) { return BatchCursor(batch).table().type; }

}  // namespace

Error no_sequence() {
  return {
      "a producer is named, and no number for what it publishes first",
      "name one above all numbers of this producer, which the server would take for repetitions, "
      "or leave out the producer"};
}

wire::AckMode mode_of(Acknowledge acknowledge) {
  switch (acknowledge) {
    case Acknowledge::none:
      return wire::AckMode::None;
    case Acknowledge::processed:
      return wire::AckMode::Processed;
    case Acknowledge::durable:
      return wire::AckMode::Durable;
    case Acknowledge::accepted:
      return wire::AckMode::AcceptedAtOnce;
    case Acknowledge::by_default:
      break;
  }
  return wire::AckMode::Accepted;
}

Result<std::optional<Piece>> encode_piece(const EventBatch& batch, std::size_t first,
                                          const BatchLimits& limits, const wire::PublishT& header,
                                          std::uint64_t id) {
  const std::uint32_t count = batch.events();
  if (count > limits.max_rows) return std::optional<Piece>();
  flatbuffers::FlatBufferBuilder builder;
  const auto packed = protocol::pack(builder, batch);
  const auto publish =
      wire::CreatePublish(builder, header.producer, header.sequence, header.ack, packed);
  builder.FinishSizePrefixed(wire::CreateMessage(builder, id, wire::Body::Publish, publish.Union()),
                             wire::MessageIdentifier());
  const auto* bytes = builder.GetBufferPointer();
  const std::size_t size = builder.GetSize();
  if (size <= limits.max_frame) {
    return std::optional(Piece{first, count, id, protocol::Bytes(bytes, bytes + size)});
  }
  if (count > 1) return std::optional<Piece>();
  return Error{"event " + std::to_string(first) + " of type '" + std::string(first_type(batch)) +
                   "' takes " + std::to_string(size) + " bytes, more than the server's limit of " +
                   std::to_string(limits.max_frame),
               "raise limits.max_frame of the server"};
}

std::array<BatchBuilder, 2> halves_of(const EventBatch& batch) {
  std::array<BatchBuilder, 2> halves;
  const std::uint32_t half = batch.events() / 2;
  for (BatchCursor event(batch); !event.done(); event.advance()) {
    add(event, halves[event.position() < half ? 0 : 1]);
  }
  return halves;
}

BatchBuilder collect(std::span<const Event>& events, const BatchLimits& limits) {
  constexpr std::size_t kEnvelope = 256;
  BatchBuilder collected;
  std::size_t count = 0;
  for (; count < events.size() && count < limits.max_rows && !collected.full(); ++count) {
    const bool fits = kEnvelope + collected.bytes() + size_of(events[count]) <= limits.max_frame;
    if (!fits && count > 0) break;
    collected.add(events[count]);
  }
  events = events.subspan(count);
  return collected;
}

protocol::Bytes encode_trace(const Event& event, std::uint64_t id) {
  BatchBuilder collected;
  collected.add(event);
  flatbuffers::FlatBufferBuilder builder;
  const auto trace = wire::CreateTrace(builder, protocol::pack(builder, collected.batch()));
  builder.FinishSizePrefixed(wire::CreateMessage(builder, id, wire::Body::Trace, trace.Union()),
                             wire::MessageIdentifier());
  const auto* bytes = builder.GetBufferPointer();
  return {bytes, bytes + builder.GetSize()};
}

}  // namespace gorgo::client
