#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <chrono>
#include <exception>
#include <list>
#include <memory>
#include <optional>
#include <utility>

#include "gorgo/loop.hpp"

namespace gorgo {

struct Loop::Impl {
  boost::asio::io_context io{1};
  std::list<Task<>> tasks;

  /// Lets go of the tasks that have ended. Throws what the first of them has thrown.
  void reap();
};

}  // namespace gorgo

namespace gorgo::client {

template <class T = void>
using Coroutine = boost::asio::awaitable<T>;
using Clock = std::chrono::steady_clock;

/// Wakes the coroutines of one loop that wait for something to change.
class Signal {
 public:
  explicit Signal(boost::asio::io_context& io) : io_(io) {}

  void notify() {
    for (boost::asio::steady_timer* waiter : waiters_) waiter->cancel();
  }
  /// Returns with the next `notify`, or at the deadline.
  Coroutine<> wait(Clock::time_point deadline) {
    boost::asio::steady_timer timer(io_, deadline);
    const Waiter waiter(waiters_, timer);
    boost::system::error_code cancelled;
    co_await timer.async_wait(boost::asio::redirect_error(boost::asio::use_awaitable, cancelled));
  }

 private:
  using Waiters = std::list<boost::asio::steady_timer*>;

  struct Waiter {
    Waiters& all;
    Waiters::iterator self;
    Waiter(Waiters& waiters, boost::asio::steady_timer& timer)
        : all(waiters), self(waiters.insert(waiters.end(), &timer)) {}
    ~Waiter() { all.erase(self); }
    Waiter(const Waiter&) = delete;
    Waiter& operator=(const Waiter&) = delete;
  };

  boost::asio::io_context& io_;
  Waiters waiters_;
};

/// Does the work and keeps its result, which need not have a default.
template <class T>
Coroutine<> keep(Coroutine<T> work, std::shared_ptr<std::optional<T>> result) {
  result->emplace(co_await std::move(work));
}

/// An operation for coroutines of programs. `make` returns the coroutine that does it.
template <class T, class Make>
Awaited<T> awaited(boost::asio::io_context& io, Make make) {
  return Awaited<T>([&io, make = std::move(make)](typename Awaited<T>::Done done) {
    const auto result = std::make_shared<std::optional<T>>();
    boost::asio::co_spawn(io, keep<T>(make(), result),
                          [done = std::move(done), result](std::exception_ptr thrown) {
                            if (thrown) std::rethrow_exception(thrown);
                            done(*std::move(*result));
                          });
  });
}

/// Runs the loop until the coroutine has ended.
template <class T>
T run(boost::asio::io_context& io, Coroutine<T> coroutine) {
  const auto result = std::make_shared<std::optional<T>>();
  bool ended = false;
  std::exception_ptr failure;
  boost::asio::co_spawn(io, keep<T>(std::move(coroutine), result), [&](std::exception_ptr thrown) {
    failure = thrown;
    ended = true;
  });
  io.restart();
  while (!ended) io.run_one();
  if (failure) std::rethrow_exception(failure);
  return *std::move(*result);
}

/// The moment so many nanoseconds from here, or the last one that the clock knows.
inline Clock::time_point after(Duration pause) {
  const auto now = Clock::now();
  const auto longest =
      std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::time_point::max() - now);
  return pause >= longest.count() ? Clock::time_point::max()
                                  : now + std::chrono::nanoseconds(pause);
}

}  // namespace gorgo::client
