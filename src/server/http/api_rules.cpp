#include <algorithm>
#include <cstdint>
#include <utility>

#include "protocol/info.hpp"
#include "server/http/api.hpp"
#include "server/http/reply_json.hpp"

// Rules and types: /v1/rules, /v1/types.
namespace gorgo::server::http {
namespace {

namespace asio = boost::asio;

const std::string& body_text_of(const Call& call) {
  return static_cast<const TextBody&>(*call.body).text();
}

wire::DeployT deployment(const Call& call, bool replace) {
  wire::DeployT request;
  request.name = call.parameters[0];
  request.text = body_text_of(call);
  request.replace = replace;
  request.with_history = call.target.flag("with_history");
  request.shadow = call.target.flag("shadow");
  return request;
}

Response done() { return json_response(Json::object()); }

/// Takes the values of events out of an answer to the question why.
void hide_values(Json& json) {
  for (auto& [key, value] : json.items()) {
    if (value.is_structured()) hide_values(value);
    if (!value.is_string()) continue;
    if (key == "event") value = without_values(value.get<std::string>());
    if (key == "found") value = Redaction::kHidden;
  }
}

}  // namespace

asio::awaitable<std::optional<Reply>> Api::rules_from(std::uint32_t first) {
  wire::ListRulesT request;
  request.first = first;
  co_return co_await ask(request);
}

asio::awaitable<std::optional<Reply>> Api::types_from(std::uint32_t first) {
  wire::ListTypesT request;
  request.first = first;
  co_return co_await ask(request);
}

asio::awaitable<Response> Api::list_rules(const Call&) {
  Json list = Json::array();
  while (true) {
    const auto reply = co_await rules_from(static_cast<std::uint32_t>(list.size()));
    const auto* rules = reply ? reply->as<wire::Rules>() : nullptr;
    if (rules == nullptr) co_return unexpected(reply);
    const bool last = rules->rules() == nullptr || rules->rules()->size() == 0;
    if (!last) {
      for (const auto* rule : *rules->rules()) list.push_back(to_json(*rule));
    }
    if (last || list.size() >= rules->total()) break;
  }
  co_return json_response({{"rules", std::move(list)}});
}

asio::awaitable<Response> Api::list_types(const Call&) {
  Json list = Json::array();
  while (true) {
    const auto reply = co_await types_from(static_cast<std::uint32_t>(list.size()));
    const auto* types = reply ? reply->as<wire::Types>() : nullptr;
    if (types == nullptr) co_return unexpected(reply);
    const bool last = types->types() == nullptr || types->types()->size() == 0;
    if (!last) {
      for (const auto* type : *types->types()) list.push_back(to_json(*type));
    }
    if (last || list.size() >= types->total()) break;
  }
  co_return json_response({{"types", std::move(list)}});
}

asio::awaitable<Response> Api::show_rule(const Call& call) {
  wire::ListRulesT request;
  request.name = call.parameters[0];
  const auto reply = co_await ask(request);
  const auto* rules = reply ? reply->as<wire::Rules>() : nullptr;
  if (rules == nullptr || rules->rules() == nullptr) co_return unexpected(reply);
  co_return json_response(to_json(*rules->rules()->Get(0)));
}

asio::awaitable<Response> Api::explain(const Call& call) {
  wire::ListRulesT request;
  request.name = call.parameters[0];
  const auto reply = co_await ask(request);
  const auto* rules = reply ? reply->as<wire::Rules>() : nullptr;
  if (rules == nullptr || rules->rules() == nullptr) co_return unexpected(reply);
  const Json all = to_json(*rules->rules()->Get(0));
  Json json = Json::object();
  for (const char* key : {"name", "engine", "automatic", "placed_because", "moves", "declined",
                          "declined_because", "alarm", "rates", "latency", "costs"}) {
    json[key] = all[key];
  }
  if (all.contains("plan")) json["plan"] = all["plan"];
  co_return json_response(json);
}

asio::awaitable<Response> Api::deploy(const wire::DeployT& request) {
  const auto reply = co_await ask(request);
  co_return diagnosed(reply);
}

asio::awaitable<Response> Api::deploy(const Call& call) {
  const auto request = deployment(call, call.target.flag("replace"));
  co_return co_await deploy(request);
}

asio::awaitable<Response> Api::replace(const Call& call) {
  const auto request = deployment(call, true);
  co_return co_await deploy(request);
}

asio::awaitable<Response> Api::check(const Call& call) {
  auto request = deployment(call, call.target.flag("replace"));
  request.check = true;
  co_return co_await deploy(request);
}

asio::awaitable<Response> Api::remove(const Call& call) {
  wire::RemoveT request;
  request.rule = call.parameters[0];
  request.deployment = call.target.flag("deployment");
  const auto reply = co_await ask(request);
  if (!reply || reply->as<wire::Ack>() == nullptr) co_return unexpected(reply);
  co_return done();
}

asio::awaitable<Response> Api::pin(const Call& call) {
  wire::PinT request;
  request.rule = call.parameters[0];
  const auto engine = call.target.find("engine");
  if (!engine) {
    const Problem problem{400, {"the query names no engine", "add ?engine=NAME, or engine=auto"}};
    co_return response_of(problem);
  }
  request.engine = *engine;
  const auto reply = co_await ask(request);
  if (!reply || reply->as<wire::Ack>() == nullptr) co_return unexpected(reply);
  co_return done();
}

asio::awaitable<std::variant<Json, Response>> Api::changes_of(const std::string& name) {
  wire::AskHistoryT request;
  request.name = name;
  Json list = Json::array();
  bool more = true;
  while (more) {
    const auto reply = co_await ask(request);
    const auto* history = reply ? reply->as<wire::History>() : nullptr;
    if (history == nullptr) co_return unexpected(reply);
    more = history->more() && history->list() != nullptr && history->list()->size() > 0;
    if (history->list() == nullptr) break;
    for (const auto* change : *history->list()) {
      list.push_back(to_json(*change));
      request.after = change->number();
    }
  }
  co_return list;
}

asio::awaitable<Response> Api::history(const Call& call) {
  auto changes = co_await changes_of(call.parameters[0]);
  if (auto* refused = std::get_if<Response>(&changes)) co_return *refused;
  auto& list = std::get<Json>(changes);
  if (list.empty()) {
    const Problem problem{404,
                          {"the server remembers no change of '" + call.parameters[0] + "'",
                           "name a deployment or the full name of a rule"}};
    co_return response_of(problem);
  }
  co_return json_response({{"changes", std::move(list)}});
}

asio::awaitable<Response> Api::all_history(const Call&) {
  auto changes = co_await changes_of("");
  if (auto* refused = std::get_if<Response>(&changes)) co_return *refused;
  auto& list = std::get<Json>(changes);
  // Who wants a text asks for that of one deployment.
  for (Json& change : list) {
    change["removed"] = !change.contains("text");
    change.erase("text");
  }
  co_return json_response({{"changes", std::move(list)}});
}

asio::awaitable<bool> Api::reads_hidden(const std::string& rule) {
  if (texts_.redaction.is_empty()) co_return false;
  wire::ListRulesT request;
  request.name = rule;
  const auto reply = co_await ask(request);
  const auto* rules = reply ? reply->as<wire::Rules>() : nullptr;
  if (rules == nullptr || rules->rules() == nullptr) co_return true;
  for (const std::string& type : protocol::texts_of(rules->rules()->Get(0)->reads())) {
    if (texts_.redaction.hides_something_of(type)) co_return true;
  }
  co_return false;
}

asio::awaitable<Response> Api::why(const Call& call) {
  wire::AskWhyT request;
  request.rule = call.parameters[0];
  const auto last = to_number("last", call.target.find("last").value_or("10"));
  const auto at = to_time("at", call.target.find("at").value_or("0"));
  if (!last || !at) {
    const Problem problem{400, last ? at.error() : last.error()};
    co_return response_of(problem);
  }
  request.last = static_cast<std::uint32_t>(std::min<std::uint64_t>(*last, UINT32_MAX));
  if (call.target.find("at")) request.at = *at;
  const auto reply = co_await ask(request);
  const auto* why = reply ? reply->as<wire::Why>() : nullptr;
  if (why == nullptr) co_return unexpected(reply);
  Json json = to_json(*why);
  const bool hides = co_await reads_hidden(call.parameters[0]);
  if (hides) hide_values(json);
  co_return json_response(json);
}

}  // namespace gorgo::server::http
