#pragma once

#include <boost/asio/async_result.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <exception>
#include <type_traits>
#include <utility>

namespace gorgo::server {

/// Has a thread of the pool do the work. Who awaits the result goes on where it was. The work is
/// done to its end also where the waiting coroutine is cancelled, and it goes on then, too.
/// `co_spawn` on the pool is no substitute: Asio (1.81) sends a cancellation to the pool's thread,
/// which may find that what it would cancel is gone.
template <class Work>
auto on_pool(boost::asio::thread_pool& pool, Work work) {
  namespace asio = boost::asio;
  using Outcome = std::invoke_result_t<Work>;
  const auto initiate = [&pool](auto handler, Work todo) {
    auto guard = asio::make_work_guard(handler);
    auto do_it = [handler = std::move(handler), guard = std::move(guard),
                  todo = std::move(todo)]() mutable {
      std::exception_ptr failure;
      Outcome outcome{};
      try {
        outcome = todo();
      } catch (...) {
        failure = std::current_exception();
      }
      const auto back = guard.get_executor();
      asio::post(back,
                 [handler = std::move(handler), failure, outcome = std::move(outcome)]() mutable {
                   std::move(handler)(failure, std::move(outcome));
                 });
    };
    asio::post(pool, std::move(do_it));
  };
  return asio::async_initiate<const asio::use_awaitable_t<>&, void(std::exception_ptr, Outcome)>(
      initiate, asio::use_awaitable, std::move(work));
}

}  // namespace gorgo::server
