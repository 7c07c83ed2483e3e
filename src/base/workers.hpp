#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace gorgo {

/// Threads that share the indices of a loop with the thread that calls. Between loops they look out
/// for the next one for some microseconds before they sleep, so that loops that follow each other
/// closely need no system call.
///
/// Thread-safety: one thread calls `run`.
class Workers {
 public:
  /// `threads` counts the caller: with 1, `run` is a plain loop. Throws where the machine does not
  /// give as many.
  explicit Workers(unsigned threads);
  ~Workers();
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  unsigned threads() const { return static_cast<unsigned>(pool_.size()) + 1; }

  /// Calls `work(i)` once for each i < count, in any order, on any of the threads. Returns when all
  /// are done; what they wrote is visible then. Throws what one of the calls threw; the others
  /// have been made.
  void run(std::size_t count, const std::function<void(std::size_t)>& work);
  /// Wakes threads that sleep, so that they look out for a loop some microseconds ahead. They join
  /// a loop later when it has to wake them.
  void rouse();

 private:
  static constexpr std::uint32_t kOpen = std::uint32_t{1} << 31;

  static void run_alone(std::size_t count, const std::function<void(std::size_t)>& work);
  void serve();
  void end();
  void await(std::uint32_t seen) const;
  void work_off();

  // The loop in hand; both are written while the gate is closed and nobody is inside.
  const std::function<void(std::size_t)>* work_ = nullptr;
  std::size_t count_ = 0;

  std::atomic<std::size_t> next_ = 0;
  std::atomic<std::uint32_t> loop_ = 0;  ///< changes with every loop, every `rouse`, and at the end
  std::atomic<std::uint32_t> gate_ = 0;  ///< kOpen, and the number of workers inside
  std::atomic<bool> ending_ = false;
  std::mutex error_mutex_;
  std::exception_ptr error_;  // guarded by error_mutex_
  std::vector<std::thread> pool_;
};

}  // namespace gorgo
