#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gorgo/diagnostics.hpp"
#include "journal/disk.hpp"
#include "journal/records_generated.h"

/// What the records of a journal hold, and how it is encoded: a FlatBuffer for each kind but Frame.
namespace gorgo::journal {

/// The name of a kind; empty: it is unknown.
std::string_view name_of(std::uint16_t kind);

/// The payload of a record. `Table`: stored::ClockMove and so on.
template <class Table>
std::vector<std::byte> encode(const typename Table::NativeTableType& value) {
  flatbuffers::FlatBufferBuilder builder;
  builder.Finish(Table::Pack(builder, &value));
  const Bytes bytes = std::as_bytes(std::span(builder.GetBufferPointer(), builder.GetSize()));
  return {bytes.begin(), bytes.end()};
}

Error not_a_record(std::string_view kind);

template <class Table>
Result<typename Table::NativeTableType> decode(Bytes payload) {
  const auto* data = reinterpret_cast<const std::uint8_t*>(payload.data());
  flatbuffers::Verifier verifier(data, payload.size());
  if (!verifier.VerifyBuffer<Table>()) return not_a_record(Table::GetFullyQualifiedName());
  typename Table::NativeTableType value;
  flatbuffers::GetRoot<Table>(data)->UnPackTo(&value);
  return {std::in_place, std::move(value)};
}

/// The first part of the payload of a frame's record; the frame follows.
Bytes bytes_of(const stored::Acceptance& acceptance);

struct AcceptedFrame {
  stored::Acceptance acceptance;
  Bytes frame;  ///< within the payload
};
Result<AcceptedFrame> decode_frame(Bytes payload);

/// The content of a record in JSON, one line; "null" for marks and kinds that are unknown.
/// An error: the payload is not what its kind should have.
Result<std::string> to_json(std::uint16_t kind, Bytes payload);

}  // namespace gorgo::journal
