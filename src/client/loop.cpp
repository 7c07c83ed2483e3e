#include "client/loop.hpp"

#include <boost/asio/post.hpp>

namespace gorgo {

Loop::Loop() : impl_(std::make_shared<Impl>()) {}

Loop::~Loop() {
  // Tasks own publishers and subscriptions, which own the loop's insides.
  impl_->tasks.clear();
}

void Loop::spawn(Task<> task) {
  auto& spawned = impl_->tasks.emplace_back(std::move(task));
  boost::asio::post(impl_->io, [&spawned] { spawned.begin(); });
}

void Loop::Impl::reap() {
  for (auto task = tasks.begin(); task != tasks.end();) {
    const auto here = task++;
    if (!here->has_ended()) continue;
    Task<> ended = std::move(*here);
    tasks.erase(here);
    ended.await_resume();
  }
}

void Loop::run() {
  impl_->io.restart();
  while (!impl_->tasks.empty()) {
    impl_->io.run_one();
    impl_->reap();
  }
}

bool Loop::poll() {
  impl_->io.restart();
  impl_->io.poll();
  impl_->reap();
  return !impl_->tasks.empty();
}

Awaited<bool> Loop::sleep(Duration pause) {
  return client::awaited<bool>(impl_->io, [&io = impl_->io, pause]() -> client::Coroutine<bool> {
    boost::asio::steady_timer timer(io, client::after(pause));
    boost::system::error_code cancelled;
    co_await timer.async_wait(boost::asio::redirect_error(boost::asio::use_awaitable, cancelled));
    co_return true;
  });
}

}  // namespace gorgo
