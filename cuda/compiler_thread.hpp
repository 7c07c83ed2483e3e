#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace gorgo::gpu {

/// A thread that compiles kernels in the background: it does jobs one after the other. Any thread
/// may submit jobs.
class CompilerThread {
 public:
  CompilerThread() : worker_([this](const std::stop_token& stop) { work(stop); }) {}

  void submit(std::function<void()> job) {
    {
      const std::lock_guard lock(mutex_);
      jobs_.push_back(std::move(job));
    }
    submitted_.notify_one();
  }

  /// Waits for the job that is being done and forgets the others, as the destructor does. Only one
  /// thread may call it, and no job.
  void stop() {
    worker_.request_stop();
    if (worker_.joinable()) worker_.join();
  }

 private:
  void work(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    while (submitted_.wait(lock, stop, [&] { return !jobs_.empty(); }) && !stop.stop_requested()) {
      const auto job = std::move(jobs_.front());
      jobs_.pop_front();
      lock.unlock();
      job();
      lock.lock();
    }
  }

  std::mutex mutex_;
  std::condition_variable_any submitted_;
  std::deque<std::function<void()>> jobs_;  // guarded by mutex_
  std::jthread worker_;                     // last: ends before the rest
};

}  // namespace gorgo::gpu
