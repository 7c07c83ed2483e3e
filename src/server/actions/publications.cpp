#include "server/actions/publications.hpp"

#include <vector>

#include "protocol/batch.hpp"
#include "protocol/gorgo_generated.h"

namespace gorgo::server {
namespace {

/// A publication of no events, by the target.
protocol::Bytes publication_of(flatbuffers::FlatBufferBuilder& builder, std::uint64_t number,
                               const std::string& target,
                               flatbuffers::Offset<flatbuffers::Vector<std::uint8_t>> position,
                               const std::vector<flatbuffers::Offset<wire::DeadLetter>>& letters) {
  BatchBuilder nothing;
  const auto batch = protocol::pack(builder, nothing.batch());
  const auto door = builder.CreateString(target);
  const auto all = builder.CreateVector(letters);
  const auto publish =
      wire::CreatePublish(builder, 0, 0, wire::AckMode::Accepted, batch, door, position, all);
  builder.FinishSizePrefixed(
      wire::CreateMessage(builder, number, wire::Body::Publish, publish.Union()),
      wire::MessageIdentifier());
  return {builder.GetBufferPointer(), builder.GetBufferPointer() + builder.GetSize()};
}

flatbuffers::Offset<flatbuffers::Vector<std::uint8_t>> position_of(
    flatbuffers::FlatBufferBuilder& builder, const std::string& state) {
  if (state.empty()) return 0;
  return builder.CreateVector(reinterpret_cast<const std::uint8_t*>(state.data()), state.size());
}

}  // namespace

protocol::Bytes dead_letters_of(const std::string& target, const std::vector<OrderPlace>& dead,
                                const std::string& state, std::uint64_t number) {
  flatbuffers::FlatBufferBuilder builder;
  std::vector<flatbuffers::Offset<wire::DeadLetter>> letters;
  for (const OrderPlace& place : dead) {
    for (const auto& row : place.order->order.rows) {
      std::string line;
      doors::append_line(line, row);
      letters.push_back(wire::CreateDeadLetter(
          builder, builder.CreateString(doors::id_of(row.place)),
          builder.CreateString(place.order->problem), builder.CreateString(line)));
    }
  }
  return publication_of(builder, number, target, position_of(builder, state), letters);
}

protocol::Bytes state_of(const std::string& target, const std::string& state,
                         std::uint64_t number) {
  flatbuffers::FlatBufferBuilder builder;
  return publication_of(builder, number, target, position_of(builder, state), {});
}

}  // namespace gorgo::server
