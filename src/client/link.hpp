#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <string>

#include "client/connection.hpp"
#include "client/loop.hpp"

namespace gorgo::client {

/// Connections to one server, one after the other, for whoever wants to have one for ever.
class Link {
 public:
  /// Who has the link. It outlives the link's coroutines, which keep it alive.
  class User : public ConnectionOwner, public std::enable_shared_from_this<User> {
   public:
    /// The server knows the client. An error ends this connection.
    virtual Coroutine<Result<void>> begin(Connection& connection) = 0;
    /// `begin` has succeeded, and not for the first time.
    virtual void reconnected(Duration after, std::uint64_t attempts) = 0;
    virtual void disconnected(const Error& reason) = 0;
    virtual ~User() = default;
  };

  Link(boost::asio::io_context& io, std::string address, const ClientOptions& options,
       Duration longest_pause)
      : io_(io), address_(std::move(address)), options_(options), longest_pause_(longest_pause) {}

  /// Connects for the first time and keeps the connection from then on. An error: it does not. The
  /// user is held by a `std::shared_ptr` already.
  Coroutine<Result<void>> open(User& user);
  void close();

  /// Null: there was none yet.
  Connection* connection() const { return connection_.get(); }
  bool is_up() const { return up_; }
  /// Why it will never be up again.
  const std::optional<Error>& ended() const { return ended_; }
  std::uint64_t reconnections() const { return reconnections_; }
  boost::asio::io_context& io() { return io_; }
  const ClientOptions& options() const { return options_; }
  /// Wakes with everything that its user may wait for.
  Signal& changed() { return changed_; }

  /// Runs the loop until `done()` or the deadline, and returns `done()`. Not within a coroutine.
  template <class Done>
  bool run_until(Clock::time_point deadline, Done done) {
    while (!done()) {
      io_.restart();
      if (io_.run_one_until(deadline) == 0 && Clock::now() >= deadline) return done();
    }
    return true;
  }

 private:
  boost::asio::io_context& io_;
  const std::string address_;
  const ClientOptions options_;
  const Duration longest_pause_;
  std::shared_ptr<Connection> connection_;
  bool up_ = false;
  std::optional<Error> ended_;
  std::uint64_t reconnections_ = 0;
  Signal changed_{io_};
  std::minstd_rand random_{std::random_device{}()};

  Coroutine<Result<void>> try_once(User& user);
  Coroutine<> keep_up(std::shared_ptr<User> user);
  Coroutine<> reconnect(User& user);
  Clock::duration pause(std::uint64_t attempts);
};

}  // namespace gorgo::client
