#include "server/http/reply_json.hpp"

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

#include "codec/json_text.hpp"
#include "protocol/info.hpp"

namespace gorgo::server::http {
namespace {

unsigned status_of(wire::ErrorCode code) {
  switch (code) {
    case wire::ErrorCode::Unauthenticated:
      return 401;
    case wire::ErrorCode::Forbidden:
      return 403;
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

using StringList = flatbuffers::Vector<flatbuffers::Offset<flatbuffers::String>>;
using DiagnosticList = flatbuffers::Vector<flatbuffers::Offset<wire::Diagnostic>>;

Json texts_json(const StringList* texts) {
  Json list = Json::array();
  if (texts == nullptr) return list;
  for (const auto* text : *texts) list.push_back(text->str());
  return list;
}

Json list_json(const DiagnosticList* diagnostics) {
  Json list = Json::array();
  if (diagnostics == nullptr) return list;
  for (const auto* d : *diagnostics) {
    list.push_back({{"file", protocol::text_of(d->file())},
                    {"line", d->line()},
                    {"column", d->column()},
                    {"length", d->length()},
                    {"severity", d->severity() == wire::Severity::Error ? "error" : "warning"},
                    {"message", protocol::text_of(d->message())},
                    {"hint", protocol::text_of(d->hint())},
                    {"source", protocol::text_of(d->source_line())}});
  }
  return list;
}

bool has_error(const DiagnosticList* diagnostics) {
  if (diagnostics == nullptr) return false;
  return std::ranges::any_of(*diagnostics, [](const auto* diagnostic) {
    return diagnostic->severity() == wire::Severity::Error;
  });
}

}  // namespace

std::string to_text(const Json& json) { return codec::json_text(json); }

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
  return {{"diagnostics", list_json(diagnostics.list())}};
}

bool has_error(const wire::Diagnostics& diagnostics) { return has_error(diagnostics.list()); }

Response diagnosed(const std::optional<Reply>& reply) {
  const auto* diagnostics = reply ? reply->as<wire::Diagnostics>() : nullptr;
  if (diagnostics == nullptr) return unexpected(reply);
  return json_response(to_json(*diagnostics), has_error(*diagnostics) ? 422 : 200);
}

Json to_json(const wire::Reloaded& reloaded) {
  Json problems = Json::array();
  if (reloaded.problems() != nullptr) {
    for (const auto* problem : *reloaded.problems()) {
      problems.push_back({{"reason", protocol::text_of(problem->message())},
                          {"hint", protocol::text_of(problem->hint())}});
    }
  }
  return {{"changed", texts_json(reloaded.changed())},
          {"files", reloaded.files()},
          {"added", texts_json(reloaded.added())},
          {"removed", texts_json(reloaded.removed())},
          {"diagnostics", list_json(reloaded.diagnostics())},
          {"errors", std::move(problems)}};
}

bool is_whole(const wire::Reloaded& reloaded) {
  const auto* problems = reloaded.problems();
  return (problems == nullptr || problems->size() == 0) && !has_error(reloaded.diagnostics());
}

Json to_json(const ConnectionInfo& connection) {
  return {{"id", connection.id},
          {"peer", connection.peer},
          {"dialect", connection.dialect},
          {"seconds", connection.seconds},
          {"bytes", connection.bytes},
          {"name", connection.name},
          {"user", connection.user},
          {"backlog", connection.backlog},
          {"subscriptions", connection.subscriptions},
          {"published", connection.published},
          {"delivered", connection.delivered},
          {"published_per_second", connection.published_per_second},
          {"delivered_per_second", connection.delivered_per_second}};
}

Json to_json(const ClosedConnection& closed) {
  const auto at =
      std::chrono::duration_cast<std::chrono::milliseconds>(closed.at.time_since_epoch());
  Json json = to_json(closed.connection);
  for (const char* open : {"bytes", "backlog", "published_per_second", "delivered_per_second"}) {
    json.erase(open);
  }
  json["reason"] = name_of(closed.reason);
  json["detail"] = closed.detail;
  json["closed_ms"] = at.count();
  return json;
}

Json to_json(const wire::TypeInfo& type) {
  Json attributes = Json::array();
  if (type.attributes() != nullptr) {
    for (const auto* attribute : *type.attributes()) {
      attributes.push_back({{"name", attribute->name()->str()},
                            {"type", to_string(static_cast<ValueType>(attribute->type()))}});
    }
  }
  return {{"name", protocol::text_of(type.name())},
          {"kept_ms", static_cast<double>(type.reach()) / 1e6},
          {"events", type.events()},
          {"bytes", type.bytes()},
          {"late", type.late()},
          {"too_late", type.too_late()},
          {"seen", type.seen()},
          {"attributes", std::move(attributes)},
          {"accepted", type.accepted()},
          {"no_value", type.no_value()},
          {"unread", type.unread()},
          {"subscribed", type.subscribed()},
          {"unread_attributes", protocol::texts_of(type.unread_attributes())},
          {"missing_attributes", protocol::texts_of(type.missing_attributes())}};
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
