#include "server/http/reply_json.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "protocol/info.hpp"

namespace gorgo::server::http {
namespace {

unsigned status_of(wire::ErrorCode code) {
  switch (code) {
    case wire::ErrorCode::NotFound:
      return 404;
    case wire::ErrorCode::TooLarge:
      return 413;
    case wire::ErrorCode::Timeout:
      return 408;
    case wire::ErrorCode::Overloaded:
    case wire::ErrorCode::Stopping:
      return 503;
    default:
      return 400;
  }
}

Json row_json(std::uint32_t row, const std::string& reason, const std::string& hint) {
  return {{"row", row}, {"reason", reason}, {"hint", hint}};
}

}  // namespace

std::string to_text(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Response json_response(const Json& json, unsigned status) {
  return {.status = status, .body = to_text(json) + "\n"};
}

Response response_of(const wire::Error& error) {
  return response_of(
      Problem{status_of(error.code()),
              {protocol::text_of(error.message()), protocol::text_of(error.hint())}});
}

Response unexpected(const std::optional<Reply>& reply) {
  const auto* error = reply ? reply->as<wire::Error>() : nullptr;
  if (error != nullptr) return response_of(*error);
  if (reply) return response_of(Problem{500, {"the engine gave another reply than expected", ""}});
  return response_of(
      Problem{503, {"the server is stopping, so this was not carried out", "send it again later"}});
}

Json to_json(const wire::Diagnostics& diagnostics) {
  Json list = Json::array();
  if (diagnostics.list() != nullptr) {
    for (const auto* d : *diagnostics.list()) {
      list.push_back({{"line", d->line()},
                      {"column", d->column()},
                      {"length", d->length()},
                      {"severity", d->severity() == wire::Severity::Error ? "error" : "warning"},
                      {"message", protocol::text_of(d->message())},
                      {"hint", protocol::text_of(d->hint())},
                      {"source", protocol::text_of(d->source_line())}});
    }
  }
  return {{"diagnostics", std::move(list)}};
}

bool has_error(const wire::Diagnostics& diagnostics) {
  if (diagnostics.list() == nullptr) return false;
  for (const auto* d : *diagnostics.list()) {
    if (d->severity() == wire::Severity::Error) return true;
  }
  return false;
}

Json to_json(const wire::TypeInfo& type) {
  return {{"name", protocol::text_of(type.name())},
          {"kept_ms", static_cast<double>(type.reach()) / 1e6},
          {"events", type.events()},
          {"bytes", type.bytes()},
          {"late", type.late()},
          {"too_late", type.too_late()}};
}

Json to_json(const wire::Leaving& leaving) { return {{"grace_ms", leaving.grace_ms()}}; }

Json to_json(const wire::Ack& ack, const EventsBody& body) {
  std::vector<std::pair<std::uint32_t, Json>> errors;
  if (ack.refusals() != nullptr) {
    for (const auto* refusal : *ack.refusals()) {
      const std::uint32_t row = body.row_of(refusal->row());
      errors.emplace_back(row, row_json(row, protocol::text_of(refusal->reason()),
                                        protocol::text_of(refusal->hint())));
    }
  }
  const bool applied = !ack.duplicate();
  if (applied) {
    for (const RefusedRow& refused : body.first_malformed()) {
      errors.emplace_back(refused.row,
                          row_json(refused.row, refused.why.message, refused.why.hint));
    }
  }
  std::ranges::sort(errors, {}, [](const auto& error) { return error.first; });
  if (errors.size() > EventsBody::kMostErrors) errors.resize(EventsBody::kMostErrors);
  Json list = Json::array();
  for (auto& [row, error] : errors) list.push_back(std::move(error));
  return {{"accepted", ack.accepted()},
          {"refused", ack.refused() + (applied ? body.malformed() : 0)},
          {"duplicate", ack.duplicate()},
          {"errors", std::move(list)}};
}

}  // namespace gorgo::server::http
