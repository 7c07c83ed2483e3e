#pragma once

#include <boost/asio/awaitable.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "server/http/delivery_text.hpp"
#include "server/http/exchange.hpp"
#include "server/http/metrics.hpp"
#include "server/http/reply_json.hpp"
#include "server/http/workbench.hpp"
#include "server/sessions/session.hpp"
#include "server/workshop.hpp"

namespace gorgo::server::http {

class Api;

enum class BodyKind : std::uint8_t { none, events, text };

/// Who may use a route, where the server asks who its clients are.
enum class Access : std::uint8_t {
  admin,    ///< users with the permission `admin`
  metrics,  ///< the same, or everybody by configuration
  user,     ///< users; what they ask of the engine is checked on its way there
  anybody,
};

/// What a path and a verb stand for.
struct Route {
  Verb verb;
  std::string_view path;  ///< "/v1/rules/{name}"
  BodyKind body = BodyKind::none;
  boost::asio::awaitable<Response> (Api::*handle)(const Call& call);
  Access access = Access::admin;
  std::string_view query = {};  ///< the keys that its query may have, between spaces
};

/// All routes to data, in the order of the documentation. Those to the workbench's page come
/// besides: they are no interface for programs.
std::span<const Route> routes();

/// Where a request goes. `find_route` sets exactly one of the two.
struct Routed {
  const Route* route = nullptr;
  std::vector<std::string> parameters;
  std::optional<Response> otherwise;  ///< 404, 405, or the answer to OPTIONS
};
Routed find_route(Verb verb, const Target& target);

/// A key of the query that the route does not know is an error, for a slip must not have a request
/// do something else. Pages, probes and scrapes may have any.
Result<void> check_query(const Route& route, const Target& target);

/// Carries out requests and makes responses of what the engine replies. Belongs to the I/O thread.
class Api {
 public:
  /// What it refers to must outlive it.
  Api(Engine& engine, SessionHub& hub, Texts& texts) : engine_(engine), hub_(hub), texts_(texts) {}

  /// Nothing, where the server can carry out what goes this way. It cannot while it starts.
  std::optional<Response> refusal_of(const Route& route) const;
  /// The body that takes in what the request carries; null: it must carry none.
  std::unique_ptr<Body> body_of(const Route& route) const;

  boost::asio::awaitable<Response> publish(const Call& call);
  boost::asio::awaitable<Response> subscribe(const Call& call);

  boost::asio::awaitable<Response> list_rules(const Call& call);
  boost::asio::awaitable<Response> show_rule(const Call& call);
  boost::asio::awaitable<Response> deploy(const Call& call);
  boost::asio::awaitable<Response> replace(const Call& call);
  boost::asio::awaitable<Response> check(const Call& call);
  boost::asio::awaitable<Response> remove(const Call& call);
  boost::asio::awaitable<Response> explain(const Call& call);
  boost::asio::awaitable<Response> history(const Call& call);
  boost::asio::awaitable<Response> all_history(const Call& call);
  boost::asio::awaitable<Response> why(const Call& call);
  boost::asio::awaitable<Response> pin(const Call& call);
  boost::asio::awaitable<Response> list_types(const Call& call);

  /// All of them, or the one that the path names.
  boost::asio::awaitable<Response> list_shadows(const Call& call);
  boost::asio::awaitable<Response> promote_shadow(const Call& call);
  boost::asio::awaitable<Response> drop_shadow(const Call& call);

  boost::asio::awaitable<Response> list_durables(const Call& call);
  boost::asio::awaitable<Response> end_durable(const Call& call);
  boost::asio::awaitable<Response> acknowledge(const Call& call);

  boost::asio::awaitable<Response> reload(const Call& call);
  boost::asio::awaitable<Response> list_doors(const Call& call);
  boost::asio::awaitable<Response> declare_door(const Call& call);
  boost::asio::awaitable<Response> remove_door(const Call& call);
  boost::asio::awaitable<Response> list_actions(const Call& call);
  boost::asio::awaitable<Response> test_action(const Call& call);
  boost::asio::awaitable<Response> retry_action(const Call& call);
  boost::asio::awaitable<Response> silence_action(const Call& call);
  boost::asio::awaitable<Response> end_silence(const Call& call);
  boost::asio::awaitable<Response> show_cluster(const Call& call);
  boost::asio::awaitable<Response> list_connections(const Call& call);
  boost::asio::awaitable<Response> disconnect(const Call& call);
  boost::asio::awaitable<Response> describe(const Call& call);
  boost::asio::awaitable<Response> health(const Call& call);
  boost::asio::awaitable<Response> readiness(const Call& call);
  boost::asio::awaitable<Response> metrics(const Call& call);

  boost::asio::awaitable<Response> watch(const Call& call);
  /// Gathers what the workbench shows, on behalf of all browsers.
  boost::asio::awaitable<void> gather(Workbench& workbench);

  boost::asio::awaitable<Response> edit(const Call& call);
  boost::asio::awaitable<Response> try_rules(const Call& call);
  boost::asio::awaitable<Response> run_tests(const Call& call);
  boost::asio::awaitable<Response> look_into_journal(const Call& call);
  /// The types that are declared, or made by rules; or why the engine did not say.
  boost::asio::awaitable<std::variant<Workshop::KnownTypes, Response>> known_types();

  boost::asio::awaitable<Response> page(const Call& call);
  boost::asio::awaitable<Response> asset(const Call& call);

 private:
  Engine& engine_;
  SessionHub& hub_;
  Texts& texts_;

  // The calls through the reference stand in functions that are no coroutines: in one, GCC 12 has
  // UndefinedBehaviorSanitizer look at a place where the reference is not yet.
  std::uint64_t next_id() { return engine_.next_id(); }
  boost::asio::awaitable<std::optional<Reply>> ask(protocol::Bytes frame) {
    return engine_.ask(std::move(frame));
  }
  template <class Body>
  boost::asio::awaitable<std::optional<Reply>> ask(const Body& body) {
    return engine_.ask(body);
  }

  boost::asio::awaitable<Response> deploy(const wire::DeployT& request);
  /// The changes of rules that are about the name, or all if it is empty; else an error.
  boost::asio::awaitable<std::variant<Json, Response>> changes_of(const std::string& name);
  /// Whether the rule reads a type that has attributes which are not shown.
  boost::asio::awaitable<bool> reads_hidden(const std::string& rule);
  /// Has the job make the response on the thread beside the I/O thread.
  boost::asio::awaitable<Response> beside(std::function<Response(const std::stop_token&)> job);
  // Whether all have been put.
  boost::asio::awaitable<bool> gather_rules(Workbench::Gathering& gathering);
  boost::asio::awaitable<bool> gather_types(Workbench::Gathering& gathering);
  boost::asio::awaitable<void> add_rules(Metrics& metrics);
  boost::asio::awaitable<void> add_types(Metrics& metrics);
  /// A page of rules or types from number `first` on; nothing: see `Engine::ask`.
  boost::asio::awaitable<std::optional<Reply>> rules_from(std::uint32_t first);
  boost::asio::awaitable<std::optional<Reply>> types_from(std::uint32_t first);
};

}  // namespace gorgo::server::http
