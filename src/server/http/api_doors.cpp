#include <optional>

#include "server/doors/doors.hpp"
#include "server/http/api.hpp"
#include "server/http/reply_json.hpp"

// Doors: /v1/doors.
namespace gorgo::server::http {
namespace {

namespace asio = boost::asio;

/// What was refused because of what it says has a status of its own.
Response refusal(const std::optional<Reply>& reply) {
  Response response = unexpected(reply);
  const auto* error = reply ? reply->as<wire::Error>() : nullptr;
  if (error != nullptr && error->code() == wire::ErrorCode::Invalid) response.status = 422;
  return response;
}

}  // namespace

asio::awaitable<Response> Api::list_doors(const Call&) {
  Json list = Json::array();
  for (const Door& door : hub_.doors->infos()) list.push_back(to_json(door));
  co_return json_response({{"doors", std::move(list)}});
}

asio::awaitable<Response> Api::declare_door(const Call& call) {
  wire::DeclareDoorT request;
  request.name = call.parameters[0];
  request.text = static_cast<const TextBody&>(*call.body).text();
  const auto reply = co_await ask(request);
  if (!reply || reply->as<wire::Diagnostics>() == nullptr) co_return refusal(reply);
  co_return diagnosed(reply);
}

asio::awaitable<Response> Api::remove_door(const Call& call) {
  wire::RemoveDoorT request;
  request.name = call.parameters[0];
  const auto reply = co_await ask(request);
  if (!reply || reply->as<wire::Ack>() == nullptr) co_return refusal(reply);
  co_return json_response(Json::object());
}

}  // namespace gorgo::server::http
