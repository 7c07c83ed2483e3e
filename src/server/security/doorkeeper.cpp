#include "server/security/doorkeeper.hpp"

#include <chrono>
#include <functional>
#include <utility>

#include "codec/timestamp.hpp"
#include "server/sessions/on_pool.hpp"

namespace gorgo::server {
namespace {

namespace asio = boost::asio;
using Outcome = Doorkeeper::Outcome;

constexpr std::size_t kLongest = kLongestPassword;  // also of a user's name and a token
constexpr std::chrono::days kSoon{14};              // before a certificate expires

std::string to_text(std::chrono::sys_seconds time) {
  std::string text;
  codec::append_rfc3339(text, std::chrono::nanoseconds(time.time_since_epoch()).count());
  return text;
}

Outcome refused(wire::ErrorCode code, Error why) {
  return {nullptr, Doorkeeper::Refused{code, std::move(why)}};
}

Outcome unauthenticated(Error why) {
  return refused(wire::ErrorCode::Unauthenticated, std::move(why));
}

Outcome wrong_credentials() {
  return unauthenticated({"the login failed", "the user, the password or the token is wrong"});
}

std::function<Verdict()> check_of(std::string hash, std::string password) {
  return [hash = std::move(hash), password = std::move(password)] {
    return check_password(hash, password);
  };
}

}  // namespace

Result<Doorkeeper::Keys> Doorkeeper::read(const ServerOptions& options) {
  Keys keys;
  auto tls = make_tls_context(options.tls);
  if (!tls) return tls.error();
  keys.tls = std::move(*tls);
  if (options.security.users.empty()) return keys;
  auto users = Users::read(options.security.users);
  if (!users) return users.error();
  keys.users = std::move(*users);
  const std::string& trex = options.trex.user;
  if (!trex.empty() && keys.users->find(trex) == nullptr) {
    return Error{"trex.user: there is no user '" + trex + "' in " + options.security.users, ""};
  }
  return keys;
}

void Doorkeeper::set(Keys keys) {
  keys_ = std::move(keys);
  certificate_expires_ = 0;
  if (keys_.tls == nullptr) return;
  const auto expiry = expiry_of(keys_.tls);
  certificate_expires_ = expiry.time_since_epoch().count();
  // In seconds: nanoseconds end in the year 2262, and certificates may be good for longer.
  const auto now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
  if (expiry - now > kSoon) return;
  log_.warning(expiry <= now ? "the certificate has expired, and clients refuse it"
                             : "the certificate expires soon",
               {{"at", to_text(expiry)},
                {"hint", "replace the files of [tls] and reload the configuration"}});
}

std::vector<std::string> Doorkeeper::changes_to(const Keys& keys) const {
  std::vector<std::string> changes;
  if (keys.users != nullptr && keys_.users != nullptr) {
    changes = keys.users->changes_since(*keys_.users);
  }
  if (keys.tls != nullptr && keys_.tls != nullptr) {
    for (const std::string& what : differences_between(keys_.tls, keys.tls)) {
      changes.push_back("tls: " + what);
    }
  }
  return changes;
}

asio::awaitable<Outcome> Doorkeeper::admit(Credentials said, Transport& transport) {
  if (said.empty()) co_return by_certificate(transport);
  if (!transport.is_secure() && !transport.is_local()) {
    co_return unauthenticated({"a password or a token came unencrypted over a network",
                               "regard it as known to others, and connect with TLS"});
  }
  const bool sane = said.user.size() <= kLongest && said.password.size() <= kLongest &&
                    said.token.size() <= kLongest;
  if (sane && !said.token.empty()) {
    // Nobody guesses a token, so that it is good also where others at the address have failed.
    const auto user = keys_.users->with_token(said.token);
    const bool agrees = said.user.empty() || (user != nullptr && user->name == said.user);
    if (user != nullptr && agrees) co_return Outcome{user, std::nullopt};
  }
  const auto now = std::chrono::steady_clock::now();
  if (!attempts_.may_try(transport.peer_address(), now)) {
    co_return refused(wire::ErrorCode::Overloaded,
                      {"too many logins from this address have failed",
                       "wait for some seconds; it may try once in six"});
  }
  Outcome outcome = wrong_credentials();
  if (sane && said.token.empty()) {
    outcome = co_await check_password_of(said, transport.peer_address());
  }
  const bool failed = outcome.refused && outcome.refused->code == wire::ErrorCode::Unauthenticated;
  if (failed) note_failure(transport);
  co_return outcome;
}

// An unknown user takes the same way as a known one, so that the time tells nothing.
asio::awaitable<Outcome> Doorkeeper::check_password_of(const Credentials& said,
                                                       const asio::ip::address& from) {
  const auto users = keys_.users;  // a reload may come meanwhile
  const UserPtr user = users->find(said.user);
  const bool has_password = user != nullptr && !user->password_hash.empty();
  const std::string& compared = has_password ? user->password_hash : users->decoy();
  if (compared.empty()) co_return wrong_credentials();
  if (waiting_.all() >= kMostWaiting) {
    co_return refused(wire::ErrorCode::Overloaded,
                      {"too many logins wait at the same time", "try again later"});
  }
  if (waiting_.of(from) >= kMostWaitingOfOne) {
    co_return refused(
        wire::ErrorCode::Overloaded,
        {"too many logins from this address wait at the same time", "try again later"});
  }
  const NetworkCounts::Share waits(waiting_, from);
  ++hashed_;
  auto check = check_of(compared, said.password);
  const Verdict verdict = co_await on_pool(thread_, std::move(check));
  if (verdict == Verdict::no_memory) {
    co_return refused(wire::ErrorCode::Overloaded,
                      {"there is not enough memory to check a password", "try again later"});
  }
  if (verdict == Verdict::right && has_password) co_return Outcome{user, std::nullopt};
  co_return wrong_credentials();
}

Outcome Doorkeeper::by_certificate(Transport& transport) const {
  const auto name = transport.certificate_name();
  if (!name) {
    return unauthenticated(
        {"this server asks who its clients are", "send a token, or a user and a password"});
  }
  if (name->empty()) {
    return unauthenticated({"the certificate does not have one common name",
                            "the common name must be a name in the file of users"});
  }
  const auto user = keys_.users->find(*name);
  if (user != nullptr) return {user, std::nullopt};
  return unauthenticated({"the name in the certificate is no user of this server",
                          "the common name must be a name in the file of users"});
}

void Doorkeeper::note_failure(const Transport& transport) {
  ++failed_;
  attempts_.failed(transport.peer_address(), std::chrono::steady_clock::now());
  if (const auto count = failed_log_.note()) {
    log_.warning("logins failed", {{"logins", *count}, {"peer", transport.peer()}});
  }
}

}  // namespace gorgo::server
