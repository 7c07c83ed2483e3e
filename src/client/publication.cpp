#include "client/publication.hpp"

#include <algorithm>
#include <string>
#include <string_view>

#include "codec/names.hpp"
#include "codec/text.hpp"
#include "protocol/batch.hpp"

namespace gorgo::client {
namespace {

/// What a frame has beside its events, at most.
constexpr std::size_t kEnvelope = 256;

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

std::string name_of(std::size_t number, std::string_view type) {
  return "event " + std::to_string(number) + " of type '" + std::string(type) + "'";
}

std::optional<Error> problem_of_type(const std::string& type, std::size_t number) {
  if (codec::is_event_type(type)) return std::nullopt;
  const std::string which = "event " + std::to_string(number);
  if (type == "*") return Error{which + " is of type '*', which stands for all types", "name one"};
  return Error{which + " has a type without a usable name", codec::what_event_names_are()};
}

std::optional<Error> problem_of_attributes(const Event& event, std::size_t number) {
  const auto& attributes = event.attributes;
  if (attributes.size() > codec::kMostAttributes) {
    return Error{
        name_of(number, event.type) + " has " + std::to_string(attributes.size()) + " attributes",
        "an event has at most " + std::to_string(codec::kMostAttributes)};
  }
  for (std::size_t i = 0; i < attributes.size(); ++i) {
    const auto& [name, value] = attributes[i];
    if (!codec::is_event_name(name)) {
      return Error{
          name_of(number, event.type) + ": attribute " + std::to_string(i) + " has no usable name",
          codec::what_event_names_are()};
    }
    const auto* text = std::get_if<std::string>(&value);
    if (text != nullptr && !codec::is_valid_utf8(*text)) {
      return Error{name_of(number, event.type) + ": attribute '" + name + "' is not UTF-8",
                   "convert the text, which may be Latin-1"};
    }
  }
  return std::nullopt;
}

/// Whether events that differ in their attributes have more of these than the server takes in one
/// table.
bool is_too_wide(const EventBatch& batch) {
  return std::ranges::any_of(batch.tables, [](const EventTable& table) {
    return table.columns.size() > codec::kMostAttributes;
  });
}

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
  if (count > 1 && is_too_wide(batch)) return std::optional<Piece>();
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
  return Error{name_of(first, first_type(batch)) + " takes " + std::to_string(size) +
                   " bytes, more than the server's limit of " + std::to_string(limits.max_frame),
               "raise limits.max_frame of the server"};
}

std::optional<Error> problem_of(const Event& event, std::size_t number, const BatchLimits& limits) {
  if (auto problem = problem_of_type(event.type, number)) return problem;
  if (auto problem = problem_of_attributes(event, number)) return problem;
  if (kEnvelope + size_of(event) <= limits.max_frame) return std::nullopt;
  BatchBuilder alone;
  alone.add(event);
  const auto piece = encode_piece(alone.batch(), number, limits, {}, 0);
  return piece ? std::nullopt : std::optional(piece.error());
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
