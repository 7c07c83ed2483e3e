#include "journal/records.hpp"

#include <flatbuffers/minireflect.h>

#include <cstring>

namespace gorgo::journal {
namespace {

template <class Table>
Result<std::string> table_to_json(Bytes payload) {
  const auto* data = reinterpret_cast<const std::uint8_t*>(payload.data());
  flatbuffers::Verifier verifier(data, payload.size());
  if (!verifier.VerifyBuffer<Table>()) return not_a_record(Table::GetFullyQualifiedName());
  flatbuffers::ToStringVisitor text(" ", true, "", true);
  flatbuffers::IterateFlatBuffer(data, Table::MiniReflectTypeTable(), &text);
  return {std::in_place, std::move(text.s)};
}

Result<std::string> frame_to_json(Bytes payload) {
  const auto frame = decode_frame(payload);
  if (!frame) return frame.error();
  const stored::Acceptance& how = frame->acceptance;
  return {std::in_place, "{ \"clock\": " + std::to_string(how.clock()) +
                             ", \"frame_at\": " + std::to_string(how.frame_at()) +
                             ", \"first_row\": " + std::to_string(how.first_row()) +
                             ", \"rows\": " + std::to_string(how.rows()) +
                             ", \"frame_bytes\": " + std::to_string(frame->frame.size()) + " }"};
}

}  // namespace

std::string_view name_of(std::uint16_t kind) {
  return stored::EnumNameKind(static_cast<stored::Kind>(kind));
}

Error not_a_record(std::string_view kind) {
  return {"the payload is no " + std::string(kind), "it was written by another program"};
}

Bytes bytes_of(const stored::Acceptance& acceptance) {
  return std::as_bytes(std::span(&acceptance, 1));
}

Result<AcceptedFrame> decode_frame(Bytes payload) {
  AcceptedFrame frame;
  if (payload.size() < sizeof(frame.acceptance)) return not_a_record("gorgo.journal.stored.Frame");
  std::memcpy(&frame.acceptance, payload.data(), sizeof(frame.acceptance));
  frame.frame = payload.subspan(sizeof(frame.acceptance));
  return frame;
}

Result<std::string> to_json(std::uint16_t kind, Bytes payload) {
  switch (static_cast<stored::Kind>(kind)) {
    case stored::Kind::Frame:
      return frame_to_json(payload);
    case stored::Kind::ClockMove:
      return table_to_json<stored::ClockMove>(payload);
    case stored::Kind::RuleChange:
      return table_to_json<stored::RuleChange>(payload);
    case stored::Kind::Pin:
      return table_to_json<stored::Pin>(payload);
    case stored::Kind::Suspension:
      return table_to_json<stored::Suspension>(payload);
    case stored::Kind::Starvation:
      return table_to_json<stored::Starvation>(payload);
    case stored::Kind::Producers:
      return table_to_json<stored::Producers>(payload);
    case stored::Kind::Subscription:
      return table_to_json<stored::Subscription>(payload);
    case stored::Kind::Cursor:
      return table_to_json<stored::Cursor>(payload);
    case stored::Kind::Results:
      return table_to_json<stored::Results>(payload);
    case stored::Kind::Refusals:
      return table_to_json<stored::Refusals>(payload);
    case stored::Kind::Release:
      return table_to_json<stored::Release>(payload);
    case stored::Kind::Settings:
      return table_to_json<stored::Settings>(payload);
    case stored::Kind::DoorChange:
      return table_to_json<stored::DoorChange>(payload);
    case stored::Kind::Mark:
      break;
  }
  return {std::in_place, "null"};
}

}  // namespace gorgo::journal
