#include "server/http/head_check.hpp"

#include <boost/beast/core/string.hpp>
#include <boost/beast/http/field.hpp>
#include <utility>

#include "server/http/authorization.hpp"
#include "server/http/origin.hpp"
#include "server/http/reply_json.hpp"
#include "server/security/doorkeeper.hpp"

namespace gorgo::server::http {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
using Field = beast::http::field;

bool is_encoded(const Head& head) {
  const auto encoding = head[Field::content_encoding];
  return !encoding.empty() && !beast::iequals(encoding, "identity");
}

}  // namespace

bool is_gzip(const Head& head) {
  const auto encoding = head[Field::content_encoding];
  return beast::iequals(encoding, "gzip") || beast::iequals(encoding, "x-gzip");
}

Checked HeadCheck::check_head(const Target& target) const {
  const Head& head = reader_.head();
  const bool reads = head.method() == Verb::get || head.method() == Verb::head;
  // A durable subscription begins with the request, and is taken from whoever has it.
  const bool changes = !reads || is_upgrade(head) || target.find("durable");
  if (changes && is_foreign()) {
    const std::string origin(head[Field::origin]);
    return Problem{403,
                   {"pages of " + (origin.empty() ? "other sites" : origin) + " may not do this",
                    "add the origin to http.origins"}};
  }
  if (is_encoded(head) && !is_gzip(head)) {
    return Problem{415, {"the body is encoded in an unknown way", "use gzip, or nothing"}};
  }
  return {};
}

asio::awaitable<std::optional<Response>> HeadCheck::log_in(const Route& route,
                                                           const Target& target) {
  Doorkeeper& doorkeeper = session_.hub().doorkeeper;
  for (const char* key : {"token", "access_token", "password"}) {
    if (!target.find(key)) continue;
    const Problem problem{400,
                          {"a URL is no place for a secret, for logs and histories keep it",
                           "send the header 'Authorization: Bearer TOKEN'"}};
    co_return response_of(problem);
  }
  if (!doorkeeper.asks()) co_return std::nullopt;
  session_.gate().set_user(nullptr);
  session_.gate().act_as(nullptr);
  if (route.access == Access::anybody) co_return std::nullopt;
  const bool scrapes = route.access == Access::metrics;
  if (!scrapes || !session_.hub().options.http.open_metrics) {
    auto refusal = co_await log_in_by_head();
    if (refusal) co_return refusal;
    if ((scrapes || route.access == Access::admin) && !user_->admin) co_return not_admin(*user_);
  }
  // A scrape asks for more than its client may ask for by itself.
  if (scrapes) session_.gate().act_as(scraper());
  if (!scrapes || !session_.hub().options.http.open_metrics) session_.gate().set_user(user_);
  co_return std::nullopt;
}

asio::awaitable<std::optional<Response>> HeadCheck::log_in_by_head() {
  const Head& head = reader_.head();
  const auto said = credentials_of(head);
  if (!said) co_return unauthorized(401, said.error(), head);
  const std::string by = hash_of_credentials(*said);
  // A password costs a tenth of a second, so it is checked once for a connection.
  Doorkeeper& doorkeeper = session_.hub().doorkeeper;
  const bool is_known = user_ != nullptr && doorkeeper.find(user_->name) == user_;
  if (is_known && by == logged_in_by_) co_return std::nullopt;
  const auto outcome = co_await doorkeeper.admit(*said, session_.transport());
  if (outcome.refused) {
    const bool is_wrong = outcome.refused->code == wire::ErrorCode::Unauthenticated;
    Response refused = unauthorized(is_wrong ? 401 : 429, outcome.refused->why, head);
    // By then one failed login of the address is forgiven, and many waiting ones are checked.
    if (!is_wrong) refused.headers.emplace_back("Retry-After", "6");
    co_return refused;
  }
  if (const auto let_in = session_.gate().let_in(outcome.user); !let_in) {
    co_return unauthorized(429, let_in.error(), head);
  }
  user_ = outcome.user;
  logged_in_by_ = by;
  co_return std::nullopt;
}

asio::awaitable<std::optional<Response>> HeadCheck::refusal_of(const Route& route,
                                                               const Target& target) {
  if (const auto problem = check_head(target)) co_return response_of(*problem);
  auto refusal = co_await log_in(route, target);
  if (refusal) co_return refusal;
  const auto known = check_query(route, target);
  if (!known) co_return response_of(Problem{400, known.error()});
  co_return std::nullopt;
}

bool HeadCheck::is_foreign() const {
  const auto origin = reader_.head()[Field::origin];
  // Pictures and links have no origin, but browsers say whose page has them.
  const auto site = reader_.head()["Sec-Fetch-Site"];
  if (origin.empty()) return !site.empty() && site != "same-origin" && site != "none";
  const Transport& transport = session_.transport();
  return !is_allowed({origin.data(), origin.size()}, session_.hub().options.http.origins,
                     transport.local(), transport.is_secure());
}

}  // namespace gorgo::server::http
