#include <algorithm>
#include <charconv>
#include <string>
#include <system_error>
#include <utility>

#include "server/actions/action_targets.hpp"
#include "server/doors/doors.hpp"
#include "server/http/api.hpp"
#include "server/http/metrics.hpp"
#include "server/http/openapi.hpp"
#include "server/http/reply_json.hpp"

// What operators and their tools ask: /v1/doors, /v1/connections, /healthz, /readyz,
// /metrics.
namespace gorgo::server::http {
namespace {

namespace asio = boost::asio;

Response plain(unsigned status, const std::string& text) {
  return {.status = status, .content_type = "text/plain", .body = text};
}

}  // namespace

asio::awaitable<Response> Api::health(const Call&) { co_return plain(200, "ok\n"); }

asio::awaitable<Response> Api::readiness(const Call&) {
  if (hub_.starts != nullptr) {
    const std::string text = "starting: " + hub_.starts->text() + "\n";
    co_return plain(503, text);
  }
  const bool stops = hub_.stops_at || hub_.queue.is_closed();
  if (stops) co_return plain(503, "stopping\n");
  if (hub_.counters().is_read_only) {
    co_return plain(503, "nothing is taken any more, because the journal has failed\n");
  }
  // Without its brokers a node takes events all the same: its journal keeps them.
  // Whoever asks need not be known, so nothing is told of them.
  const bool is_whole = hub_.node == nullptr || hub_.node->problem().empty();
  co_return plain(200, is_whole ? "ready\n" : "ready, without the brokers of the cluster\n");
}

asio::awaitable<Response> Api::describe(const Call&) {
  co_return Response{.status = 200, .body = std::string(openapi())};
}

asio::awaitable<Response> Api::reload(const Call&) {
  const wire::ReloadT request;
  const auto reply = co_await ask(request);
  if (const auto* reloaded = reply ? reply->as<wire::Reloaded>() : nullptr) {
    co_return json_response(to_json(*reloaded), is_whole(*reloaded) ? 200 : 422);
  }
  Response refused = unexpected(reply);
  const auto* error = reply ? reply->as<wire::Error>() : nullptr;
  if (error != nullptr && error->code() == wire::ErrorCode::Invalid) refused.status = 422;
  co_return refused;
}

asio::awaitable<Response> Api::list_connections(const Call& call) {
  Json list = Json::array();
  if (call.target.flag("closed")) {
    for (const ClosedConnection& closed : hub_.closed.last()) list.push_back(to_json(closed));
  } else {
    for (const ConnectionInfo& open : hub_.connections()) list.push_back(to_json(open));
  }
  co_return json_response({{"connections", std::move(list)}});
}

asio::awaitable<Response> Api::disconnect(const Call& call) {
  const std::string& text = call.parameters.front();
  std::uint64_t id = 0;
  const auto [end, wrong] = std::from_chars(text.data(), text.data() + text.size(), id);
  if (wrong != std::errc() || end != text.data() + text.size()) {
    co_return response_of(
        Problem{400, {"'" + text + "' is no number of a connection", "see /v1/connections"}});
  }
  const auto done = hub_.disconnect(id);
  if (!done) co_return response_of(Problem{404, done.error()});
  co_return json_response({{"disconnected", id}});
}

asio::awaitable<void> Api::add_rules(Metrics& metrics) {
  std::uint32_t first = 0, total = 1;
  while (first < std::min(total, kMostSeries)) {
    const auto page = co_await rules_from(first);
    const auto* rules = page ? page->as<wire::Rules>() : nullptr;
    if (rules == nullptr || rules->rules() == nullptr || rules->rules()->size() == 0) break;
    for (const auto* rule : *rules->rules()) {
      if (first++ < kMostSeries) metrics.add(*rule);
    }
    total = rules->total();
  }
  metrics.left_out("rules", total > kMostSeries ? total - kMostSeries : 0);
}

asio::awaitable<void> Api::add_types(Metrics& metrics) {
  std::uint32_t first = 0, total = 1;
  while (first < std::min(total, kMostSeries)) {
    const auto page = co_await types_from(first);
    const auto* types = page ? page->as<wire::Types>() : nullptr;
    if (types == nullptr || types->types() == nullptr || types->types()->size() == 0) break;
    for (const auto* type : *types->types()) {
      if (first++ < kMostSeries) metrics.add(*type);
    }
    total = types->total();
  }
  metrics.left_out("types", total > kMostSeries ? total - kMostSeries : 0);
}

asio::awaitable<Response> Api::metrics(const Call&) {
  Metrics metrics;
  const wire::AskStatisticsT question;
  const auto reply = co_await ask(question);
  const auto* statistics = reply ? reply->as<wire::Statistics>() : nullptr;
  if (statistics == nullptr) co_return unexpected(reply);
  metrics.add(*statistics, hub_.counters());
  metrics.add(hub_.connections());
  metrics.add(hub_.closed);
  metrics.add(hub_.doors->infos());
  metrics.add(hub_.actions->infos());
  metrics.add(hub_.accounts);
  if (hub_.node != nullptr) metrics.add(*hub_.node);
  const wire::ListDevicesT list_devices;
  const auto devices = co_await ask(list_devices);
  if (const auto* list = devices ? devices->as<wire::Devices>() : nullptr) metrics.add(*list);
  co_await add_rules(metrics);
  co_await add_types(metrics);
  co_return Response{.status = 200,
                     .content_type = "text/plain; version=0.0.4; charset=utf-8",
                     .body = metrics.text()};
}

}  // namespace gorgo::server::http
