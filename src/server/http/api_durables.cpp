#include "protocol/info.hpp"
#include "server/http/api.hpp"
#include "server/http/place_text.hpp"
#include "server/http/reply_json.hpp"

// Durable subscriptions: /v1/subscriptions.
namespace gorgo::server::http {
namespace {

namespace asio = boost::asio;

Json durable_json(const wire::DurableInfo& info) {
  return {{"name", info.name()->str()},
          {"subscribe", info.text()->str()},
          {"acknowledged", text_of(Place{info.root(), info.ordinal()})},
          {"rows", info.rows()},
          {"bytes", info.bytes()},
          {"lost", info.lost()},
          {"user", protocol::text_of(info.who())},
          {"peer", protocol::text_of(info.peer())}};
}

/// The place in a body like {"id":"12-1"}.
Result<Place> place_in(const Call& call) {
  const auto read = static_cast<const TextBody&>(*call.body).json();
  if (!read) return read.error();
  const Json& json = *read;
  std::optional<Place> place;
  if (json.is_object() && json.contains("id") && json["id"].is_string()) {
    place = parse_place(json["id"].get<std::string>());
  }
  if (place) return *place;
  return Error{"the body names no event", "send {\"id\":\"ROOT-ORDINAL\"} with the id of an event"};
}

}  // namespace

asio::awaitable<Response> Api::list_durables(const Call&) {
  const auto reply = co_await ask(wire::ListDurablesT());
  const auto* durables = reply ? reply->as<wire::Durables>() : nullptr;
  if (durables == nullptr) co_return unexpected(reply);
  Json list = Json::array();
  if (durables->list() != nullptr) {
    for (const auto* info : *durables->list()) list.push_back(durable_json(*info));
  }
  co_return json_response({{"subscriptions", std::move(list)}});
}

asio::awaitable<Response> Api::end_durable(const Call& call) {
  wire::EndDurableT request;
  request.durable = call.parameters[0];
  const auto reply = co_await ask(request);
  if (!reply || reply->as<wire::Ack>() == nullptr) co_return unexpected(reply);
  co_return json_response(Json::object());
}

asio::awaitable<Response> Api::acknowledge(const Call& call) {
  const auto place = place_in(call);
  if (!place) {
    const Problem problem{400, place.error()};
    co_return response_of(problem);
  }
  wire::AcknowledgeT request;
  request.durable = call.parameters[0];
  request.root = place->root;
  request.ordinal = place->ordinal;
  const auto reply = co_await ask(request);
  if (!reply || reply->as<wire::Ack>() == nullptr) co_return unexpected(reply);
  co_return json_response(Json::object());
}

}  // namespace gorgo::server::http
