#include "client/link.hpp"

#include <algorithm>
#include <array>
#include <boost/asio/detached.hpp>
#include <utility>

#include "client/replies.hpp"

namespace gorgo::client {
namespace {

/// Whether trying again would meet the same answer.
bool is_final(const Error& error) {
  constexpr std::array<std::string_view, 5> kFinal = {"Unauthenticated", "Forbidden", "Version",
                                                      "Invalid", kClosed};
  return std::ranges::find(kFinal, error.code) != kFinal.end();
}

}  // namespace

Coroutine<Result<void>> Link::try_once(User& user) {
  if (connection_) connection_->close();
  const auto connection = std::make_shared<Connection>(io_, options_, user);
  connection_ = connection;
  auto done = co_await connection->open(address_);
  if (done) done = co_await user.begin(*connection);
  if (ended_) co_return *ended_;
  up_ = done.has_value();
  co_return done;
}

Coroutine<Result<void>> Link::open(User& user) {
  const auto held = user.shared_from_this();
  const auto opened = co_await try_once(user);
  if (!opened) co_return opened;
  boost::asio::co_spawn(io_, keep_up(held), boost::asio::detached);
  co_return Result<void>();
}

Coroutine<> Link::keep_up(std::shared_ptr<User> user) {
  while (!ended_) {
    const auto connection = connection_;
    const Error reason = co_await connection->until_broken();
    if (ended_) co_return;
    up_ = false;
    // Another connection has taken the durable subscription, and would lose it to a new attempt.
    if (reason.code == "NotFound") ended_ = reason;
    if (ended_) break;
    user->disconnected(reason);
    changed_.notify();
    co_await reconnect(*user);
    changed_.notify();
  }
  changed_.notify();
}

Coroutine<> Link::reconnect(User& user) {
  const auto since = Clock::now();
  for (std::uint64_t attempts = 1; !ended_; ++attempts) {
    const auto until = Clock::now() + pause(attempts);
    while (!ended_ && Clock::now() < until) co_await changed_.wait(until);
    if (ended_) co_return;
    const auto done = co_await try_once(user);
    if (ended_) co_return;
    if (done) {
      ++reconnections_;
      user.reconnected(std::chrono::nanoseconds(Clock::now() - since).count(), attempts);
      co_return;
    }
    if (is_final(done.error())) ended_ = done.error();
  }
}

Clock::duration Link::pause(std::uint64_t attempts) {
  constexpr Duration kFirst = 20'000'000;
  const Duration doubled = kFirst << std::min<std::uint64_t>(attempts - 1, 20);
  std::uniform_real_distribution<double> vary(0.5, 1.5);
  const double chosen = static_cast<double>(std::min(doubled, longest_pause_)) * vary(random_);
  return std::chrono::nanoseconds(static_cast<Duration>(chosen));
}

void Link::close() {
  if (!ended_) ended_ = Error{"the client was closed", "", kClosed};
  up_ = false;
  if (connection_) connection_->close();
  changed_.notify();
}

}  // namespace gorgo::client
