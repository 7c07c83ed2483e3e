#pragma once

#include <coroutine>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "gorgo/value.hpp"

/// Coroutines for programs that do several things at once on one thread.
namespace gorgo {

namespace detail {

/// What the promises of tasks have in common: who waits for the task, and what it threw.
struct TaskPromise {
  std::coroutine_handle<> waiting = std::noop_coroutine();
  std::exception_ptr thrown;

  struct Resume {
    bool await_ready() const noexcept { return false; }
    template <class Promise>
    std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> ended) const noexcept {
      return ended.promise().waiting;
    }
    void await_resume() const noexcept {}
  };

  std::suspend_always initial_suspend() const noexcept { return {}; }
  Resume final_suspend() const noexcept { return {}; }
  void unhandled_exception() { thrown = std::current_exception(); }
};

template <class T>
struct TaskValue : TaskPromise {
  std::optional<T> value;

  template <class U>
  void return_value(U&& returned) {
    value.emplace(std::forward<U>(returned));
  }
  T take() {
    if (thrown) std::rethrow_exception(thrown);
    return *std::move(value);
  }
};

template <>
struct TaskValue<void> : TaskPromise {
  void return_void() const noexcept {}
  void take() const {
    if (thrown) std::rethrow_exception(thrown);
  }
};

}  // namespace detail

/// A coroutine that begins when somebody awaits it, once, or when a `Loop` runs it. It owns its
/// frame. It must not be destroyed while it waits for something.
template <class T = void>
class [[nodiscard]] Task {
 public:
  struct promise_type : detail::TaskValue<T> {
    Task get_return_object() {
      return Task(std::coroutine_handle<promise_type>::from_promise(*this));
    }
  };

  Task(Task&& other) noexcept : frame_(std::exchange(other.frame_, nullptr)) {}
  Task& operator=(Task&& other) noexcept {
    std::swap(frame_, other.frame_);
    return *this;
  }
  ~Task() {
    if (frame_) frame_.destroy();
  }

  bool await_ready() const noexcept { return false; }
  std::coroutine_handle<> await_suspend(std::coroutine_handle<> waiting) noexcept {
    frame_.promise().waiting = waiting;
    return frame_;
  }
  T await_resume() { return frame_.promise().take(); }

  /// For loops: begins it.
  void begin() { frame_.resume(); }
  bool has_ended() const { return frame_.done(); }

 private:
  std::coroutine_handle<promise_type> frame_;

  explicit Task(std::coroutine_handle<promise_type> frame) : frame_(frame) {}
};

/// What an operation of a client gives to the coroutine that awaits it, at once or when it is over.
/// Await it once, where it is made: `co_await subscription.async_next()`.
template <class T>
class [[nodiscard]] Awaited {
 public:
  using Done = std::function<void(T)>;

  explicit Awaited(T value) : value_(std::move(value)) {}
  /// `begin` starts the operation and has its argument called later, by the loop.
  explicit Awaited(std::function<void(Done)> begin) : begin_(std::move(begin)) {}

  bool await_ready() const noexcept { return value_.has_value(); }
  void await_suspend(std::coroutine_handle<> waiting) {
    begin_([this, waiting](T value) {
      value_.emplace(std::move(value));
      waiting.resume();
    });
  }
  T await_resume() { return *std::move(value_); }

 private:
  std::function<void(Done)> begin_;
  std::optional<T> value_;
};

/// Runs coroutines, and everything that publishers and subscriptions do beside them, on the thread
/// that calls `run`:
///
///     gorgo::Loop loop;
///     loop.spawn(watch(loop));
///     loop.spawn(feed(loop));
///     loop.run();
///
/// Thread-safety: one thread at a time uses a loop, its tasks, publishers and subscriptions.
class Loop {
 public:
  Loop();
  ~Loop();  ///< destroys the tasks that have not ended
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  /// Has the task begin with the next `run`.
  void spawn(Task<> task);
  /// Runs until every task has ended. What a task throws comes out here, and the others can be run
  /// on.
  void run();
  /// Runs what is ready and returns at once: for programs with a loop of their own. Returns whether
  /// tasks are left.
  bool poll();
  /// Resumes the coroutine that awaits it when `pause` nanoseconds have passed.
  Awaited<bool> sleep(Duration pause);

  struct Impl;
  const std::shared_ptr<Impl>& impl() const { return impl_; }  ///< for the library

 private:
  std::shared_ptr<Impl> impl_;
};

}  // namespace gorgo
