#include <algorithm>
#include <array>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include "server/http/api.hpp"

namespace gorgo::server::http {
namespace {

constexpr auto kRoutes = std::to_array<Route>({
    {Verb::post, "/v1/events", BodyKind::events, &Api::publish, Access::user,
     "ack producer sequence"},
    {Verb::get, "/v1/events", BodyKind::none, &Api::subscribe, Access::user,
     "subscribe slow most durable"},
    {Verb::get, "/v1/rules", BodyKind::none, &Api::list_rules, Access::user},
    {Verb::get, "/v1/rules/{name}", BodyKind::none, &Api::show_rule, Access::user},
    {Verb::post, "/v1/rules/{name}", BodyKind::text, &Api::deploy, Access::user,
     "with_history replace shadow"},
    {Verb::put, "/v1/rules/{name}", BodyKind::text, &Api::replace, Access::user,
     "with_history replace shadow"},
    {Verb::delete_, "/v1/rules/{name}", BodyKind::none, &Api::remove, Access::user, "deployment"},
    {Verb::post, "/v1/rules/{name}/check", BodyKind::text, &Api::check, Access::user,
     "replace with_history"},
    {Verb::get, "/v1/rules/{name}/explain", BodyKind::none, &Api::explain, Access::user},
    {Verb::get, "/v1/rules/{name}/history", BodyKind::none, &Api::history, Access::user},
    {Verb::get, "/v1/history", BodyKind::none, &Api::all_history, Access::user},
    {Verb::get, "/v1/rules/{name}/why", BodyKind::none, &Api::why, Access::user, "last at"},
    {Verb::post, "/v1/rules/{name}/pin", BodyKind::none, &Api::pin, Access::user, "engine"},
    {Verb::get, "/v1/shadows", BodyKind::none, &Api::list_shadows, Access::user},
    {Verb::get, "/v1/shadows/{name}", BodyKind::none, &Api::list_shadows, Access::user},
    {Verb::delete_, "/v1/shadows/{name}", BodyKind::none, &Api::drop_shadow, Access::user},
    {Verb::post, "/v1/shadows/{name}/promote", BodyKind::none, &Api::promote_shadow, Access::user,
     "with_history"},
    {Verb::get, "/v1/subscriptions", BodyKind::none, &Api::list_durables, Access::user},
    {Verb::delete_, "/v1/subscriptions/{name}", BodyKind::none, &Api::end_durable, Access::user},
    {Verb::post, "/v1/subscriptions/{name}/ack", BodyKind::text, &Api::acknowledge, Access::user},
    {Verb::get, "/v1/types", BodyKind::none, &Api::list_types, Access::user},
    {Verb::post, "/v1/reload", BodyKind::none, &Api::reload, Access::admin},
    {Verb::get, "/v1/doors", BodyKind::none, &Api::list_doors, Access::admin},
    {Verb::post, "/v1/doors/{name}", BodyKind::text, &Api::declare_door, Access::admin},
    {Verb::delete_, "/v1/doors/{name}", BodyKind::none, &Api::remove_door, Access::admin},
    {Verb::get, "/v1/actions", BodyKind::none, &Api::list_actions, Access::admin},
    {Verb::post, "/v1/actions/{name}/test", BodyKind::none, &Api::test_action, Access::admin},
    {Verb::post, "/v1/actions/{name}/retry", BodyKind::none, &Api::retry_action, Access::admin},
    {Verb::post, "/v1/actions/{name}/silences", BodyKind::text, &Api::silence_action,
     Access::admin},
    {Verb::delete_, "/v1/actions/{name}/silences/{id}", BodyKind::none, &Api::end_silence,
     Access::admin},
    {Verb::get, "/v1/cluster", BodyKind::none, &Api::show_cluster, Access::admin},
    {Verb::get, "/v1/connections", BodyKind::none, &Api::list_connections, Access::admin, "closed"},
    {Verb::delete_, "/v1/connections/{id}", BodyKind::none, &Api::disconnect, Access::admin},
    {Verb::get, "/v1/workbench/stream", BodyKind::none, &Api::watch, Access::admin},
    {Verb::get, "/v1/lsp", BodyKind::none, &Api::edit, Access::admin},
    {Verb::post, "/v1/rules/{name}/trial", BodyKind::text, &Api::try_rules, Access::admin},
    {Verb::post, "/v1/rules/{name}/tests", BodyKind::text, &Api::run_tests, Access::admin},
    {Verb::get, "/v1/journal/events", BodyKind::none, &Api::look_into_journal, Access::admin,
     "place at type most"},
    {Verb::get, "/v1/openapi.json", BodyKind::none, &Api::describe, Access::user},
    {Verb::get, "/healthz", BodyKind::none, &Api::health, Access::anybody},
    {Verb::get, "/readyz", BodyKind::none, &Api::readiness, Access::anybody},
    {Verb::get, "/metrics", BodyKind::none, &Api::metrics, Access::metrics},
});

// The page finds out by itself which of its views a path stands for.
constexpr auto kPages = std::to_array<Route>({
    {Verb::get, "/", BodyKind::none, &Api::page, Access::anybody},
    {Verb::get, "/graph", BodyKind::none, &Api::page, Access::anybody},
    {Verb::get, "/rules", BodyKind::none, &Api::page, Access::anybody},
    {Verb::get, "/rules/{name}", BodyKind::none, &Api::page, Access::anybody},
    {Verb::get, "/editor", BodyKind::none, &Api::page, Access::anybody},
    {Verb::get, "/editor/{name}", BodyKind::none, &Api::page, Access::anybody},
    {Verb::get, "/why", BodyKind::none, &Api::page, Access::anybody},
    {Verb::get, "/why/{name}", BodyKind::none, &Api::page, Access::anybody},
    {Verb::get, "/events", BodyKind::none, &Api::page, Access::anybody},
    {Verb::get, "/engines", BodyKind::none, &Api::page, Access::anybody},
    {Verb::get, "/doors", BodyKind::none, &Api::page, Access::anybody},
    {Verb::get, "/actions", BodyKind::none, &Api::page, Access::anybody},
    {Verb::get, "/cluster", BodyKind::none, &Api::page, Access::anybody},
    {Verb::get, "/connections", BodyKind::none, &Api::page, Access::anybody},
    {Verb::get, "/shadows", BodyKind::none, &Api::page, Access::anybody},
    {Verb::get, "/assets/{file}", BodyKind::none, &Api::asset, Access::anybody},
});

/// The parts of the path that the route names in braces; nothing: the path is another one.
std::optional<std::vector<std::string>> match(std::string_view route,
                                              const std::vector<std::string>& path) {
  std::vector<std::string> parameters;
  route.remove_prefix(1);
  for (const std::string& part : path) {
    const std::size_t end = route.find('/');
    const auto wanted = route.substr(0, end);
    const bool named = wanted.starts_with('{');
    if (wanted.empty() || (!named && wanted != part) || part.empty()) return std::nullopt;
    if (named) parameters.push_back(part);
    route.remove_prefix(end == route.npos ? route.size() : end + 1);
  }
  return route.empty() ? std::optional(parameters) : std::nullopt;
}

/// The keys that the query of the route may have.
std::vector<std::string> keys_of(const Route& route) {
  std::istringstream words{std::string(route.query)};
  return {std::istream_iterator<std::string>(words), {}};
}

}  // namespace

std::span<const Route> routes() { return kRoutes; }

Result<void> check_query(const Route& route, const Target& target) {
  if (route.access == Access::anybody || route.access == Access::metrics) return {};
  const auto known = keys_of(route);
  for (const auto& [key, value] : target.query) {
    if (std::ranges::find(known, key) != known.end()) continue;
    const std::string meant(closest_name(key, known));
    if (!meant.empty()) {
      return Error{"this path knows no '" + key + "'", "did you mean '" + meant + "'?"};
    }
    return Error{"this path knows no '" + key + "'",
                 known.empty() ? "leave out the query" : "it knows: " + std::string(route.query)};
  }
  return {};
}

Routed find_route(Verb verb, const Target& target) {
  const Verb asked = verb == Verb::head ? Verb::get : verb;
  std::string allowed;
  for (const auto& table : {std::span<const Route>(kRoutes), std::span<const Route>(kPages)}) {
    for (const Route& route : table) {
      auto parameters = match(route.path, target.path);
      if (!parameters) continue;
      if (route.verb == asked) return {&route, *std::move(parameters), {}};
      const auto name = boost::beast::http::to_string(route.verb);
      allowed += (allowed.empty() ? "" : ", ") + std::string(name.data(), name.size());
      if (route.verb == Verb::get) allowed += ", HEAD";
    }
  }
  if (allowed.empty()) {
    return {
        nullptr, {}, response_of({404, {"there is nothing of this path", "see /v1/openapi.json"}})};
  }
  Response response{.status = 204, .body = {}};
  if (verb != Verb::options) {
    response = response_of({405, {"this path does not take this method", "use " + allowed}});
  }
  response.headers.emplace_back("Allow", allowed + ", OPTIONS");
  return {nullptr, {}, response};
}

}  // namespace gorgo::server::http
