#include "protocol/info.hpp"
#include "server/http/api.hpp"
#include "server/http/reply_json.hpp"

// Rules that run beside those in force: /v1/shadows.
namespace gorgo::server::http {
namespace {

namespace asio = boost::asio;

Json strings_of(const flatbuffers::Vector<flatbuffers::Offset<flatbuffers::String>>* texts) {
  Json list = Json::array();
  if (texts == nullptr) return list;
  for (const auto* text : *texts) list.push_back(text->str());
  return list;
}

Json samples_of(const flatbuffers::Vector<flatbuffers::Offset<flatbuffers::String>>* lines,
                const Redaction& redaction) {
  Json list = strings_of(lines);
  if (redaction.is_empty()) return list;
  for (Json& line : list) line = without_hidden(line.get<std::string>(), redaction);
  return list;
}

Json counts_of(std::uint64_t both, std::uint64_t deployed, std::uint64_t shadow) {
  return {{"both", both}, {"only_deployed", deployed}, {"only_shadow", shadow}};
}

Json shadow_json(const wire::ShadowInfo& shadow, const Redaction& redaction) {
  return {{"name", shadow.name()->str()},
          {"user", protocol::text_of(shadow.who())},
          {"since", shadow.since()},
          {"rules", strings_of(shadow.rules())},
          {"replaced", strings_of(shadow.replaced())},
          {"events", shadow.events()},
          {"refused", shadow.refused()},
          {"filling", shadow.filling()},
          {"full_at", shadow.full_at()},
          {"counts", counts_of(shadow.both(), shadow.only_deployed(), shadow.only_shadow())},
          {"before", counts_of(shadow.both_before(), shadow.only_deployed_before(),
                               shadow.only_shadow_before())},
          {"deployed_samples", samples_of(shadow.deployed_samples(), redaction)},
          {"shadow_samples", samples_of(shadow.shadow_samples(), redaction)},
          {"stopped", protocol::text_of(shadow.stopped())}};
}

}  // namespace

asio::awaitable<Response> Api::list_shadows(const Call& call) {
  const auto reply = co_await ask(wire::ListShadowsT());
  const auto* shadows = reply ? reply->as<wire::Shadows>() : nullptr;
  if (shadows == nullptr) co_return unexpected(reply);
  Json list = Json::array();
  if (shadows->list() != nullptr) {
    for (const auto* info : *shadows->list()) {
      list.push_back(shadow_json(*info, texts_.redaction));
    }
  }
  if (call.parameters.empty()) co_return json_response({{"shadows", std::move(list)}});
  for (const Json& shadow : list) {
    if (shadow["name"] == call.parameters[0]) co_return json_response(shadow);
  }
  const Problem problem{
      404,
      {"there is no shadow deployment '" + call.parameters[0] + "'", "GET /v1/shadows lists them"}};
  co_return response_of(problem);
}

asio::awaitable<Response> Api::promote_shadow(const Call& call) {
  wire::PromoteShadowT request;
  request.name = call.parameters[0];
  request.with_history = call.target.flag("with_history");
  const auto reply = co_await ask(request);
  co_return diagnosed(reply);
}

asio::awaitable<Response> Api::drop_shadow(const Call& call) {
  wire::DropShadowT request;
  request.name = call.parameters[0];
  const auto reply = co_await ask(request);
  if (!reply || reply->as<wire::Ack>() == nullptr) co_return unexpected(reply);
  co_return json_response(Json::object());
}

}  // namespace gorgo::server::http
