#include "client/publication.hpp"

#include <algorithm>

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

}  // namespace

Result<Piece> encode_piece(std::span<const Event> events, std::size_t first,
                           const BatchLimits& limits, const wire::PublishT& header,
                           std::uint64_t id) {
  constexpr std::size_t kEnvelope = 256;
  BatchBuilder collected;
  std::size_t at = first;
  for (; at < events.size() && collected.events() < limits.max_rows && !collected.full(); ++at) {
    // The estimate is exact enough to fill frames, and always above the true size.
    const bool fits = kEnvelope + collected.bytes() + size_of(events[at]) <= limits.max_frame;
    if (!fits && at > first) break;
    collected.add(events[at]);
  }
  flatbuffers::FlatBufferBuilder builder(std::max<std::size_t>(1024, collected.bytes()));
  const auto batch = protocol::pack(builder, collected.batch());
  const auto publish =
      wire::CreatePublish(builder, header.producer, header.sequence, header.ack, batch);
  builder.FinishSizePrefixed(wire::CreateMessage(builder, id, wire::Body::Publish, publish.Union()),
                             wire::MessageIdentifier());
  if (builder.GetSize() > limits.max_frame) {
    return Error{"event " + std::to_string(first) + " of type '" + events[first].type + "' takes " +
                     std::to_string(builder.GetSize()) +
                     " bytes, more than the server's limit of " + std::to_string(limits.max_frame),
                 "raise limits.max_frame of the server"};
  }
  const auto* bytes = builder.GetBufferPointer();
  return Piece{first, at - first, id, protocol::Bytes(bytes, bytes + builder.GetSize())};
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
