#pragma once

#include <atomic>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/thread_pool.hpp>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/attempts.hpp"
#include "protocol/gorgo_generated.h"
#include "server/log.hpp"
#include "server/log_limit.hpp"
#include "server/options.hpp"
#include "server/security/credentials.hpp"
#include "server/security/network_counts.hpp"
#include "server/security/secrets.hpp"
#include "server/security/tls.hpp"
#include "server/security/users.hpp"
#include "server/sessions/transport.hpp"

namespace gorgo::server {

/// Finds out who clients are. Belongs to the I/O thread; passwords are hashed on a thread of its
/// own, one at a time.
class Doorkeeper {
 public:
  /// What stands in the files that the options name.
  struct Keys {
    TlsContext tls;                      ///< null: no TLS
    std::shared_ptr<const Users> users;  ///< null: nobody is asked who he is
  };
  /// An error where a file is wrong. Reads the files anew each time.
  static Result<Keys> read(const ServerOptions& options);

  /// Why a client is not let in.
  struct Refused {
    wire::ErrorCode code = wire::ErrorCode::Unauthenticated;
    Error why;
  };
  /// Exactly one of the two is set.
  struct Outcome {
    UserPtr user;
    std::optional<Refused> refused;
  };

  explicit Doorkeeper(Log& log) : log_(log) {}
  ~Doorkeeper() { thread_.join(); }

  /// Warns of a certificate that has expired or soon will.
  void set(Keys keys);
  /// What would change by `set`, in words, beside what the options say.
  std::vector<std::string> changes_to(const Keys& keys) const;
  const TlsContext& tls() const { return keys_.tls; }
  /// Whether clients must say who they are.
  bool asks() const { return keys_.users != nullptr; }
  /// Null: there is no such user (any more).
  UserPtr find(const std::string& user) const { return keys_.users->find(user); }
  /// Who the client is, by what it says or else by its certificate. Errors never tell whether the
  /// user or the password was wrong. Precondition: `asks`.
  boost::asio::awaitable<Outcome> admit(Credentials said, Transport& transport);

  /// Logins that failed. Any thread.
  std::uint64_t failed_logins() const { return failed_; }
  /// Passwords that were compared with a hash. Any thread.
  std::uint64_t hashed_passwords() const { return hashed_; }
  /// When the server's certificate expires, in seconds since the Unix epoch; 0: it has none. Any
  /// thread.
  std::int64_t certificate_expires() const { return certificate_expires_; }

 private:
  /// Passwords that wait for the thread, of all networks and of one; beyond, logins are refused.
  static constexpr std::size_t kMostWaiting = 32;
  static constexpr std::size_t kMostWaitingOfOne = 16;

  Log& log_;
  Keys keys_;
  Attempts attempts_{{.most = 10, .one = std::chrono::seconds(6)}};
  LogLimit failed_log_;
  std::atomic<std::uint64_t> failed_ = 0, hashed_ = 0;
  std::atomic<std::int64_t> certificate_expires_ = 0;
  NetworkCounts waiting_;
  boost::asio::thread_pool thread_{1};

  boost::asio::awaitable<Outcome> check_password_of(const Credentials& said,
                                                    const boost::asio::ip::address& from);
  Outcome by_certificate(Transport& transport) const;
  void note_failure(const Transport& transport);
};

}  // namespace gorgo::server
