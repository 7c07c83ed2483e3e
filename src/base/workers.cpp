#include "base/workers.hpp"

#include <stdexcept>
#include <string>
#include <utility>

#include "base/thread_name.hpp"

namespace gorgo {
namespace {

constexpr int kLooks = 2000;  // some 20 to 50 us

void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#else
  std::this_thread::yield();
#endif
}

}  // namespace

Workers::Workers(unsigned threads) {
  try {
    for (unsigned i = 1; i < threads; ++i) pool_.emplace_back([this] { serve(); });
  } catch (const std::exception& failure) {
    end();  // the destructor does not run
    throw std::runtime_error("cannot start " + std::to_string(threads) +
                             " threads: " + failure.what());
  }
}

Workers::~Workers() { end(); }

void Workers::end() {
  ending_.store(true, std::memory_order_relaxed);
  rouse();
  for (std::thread& thread : pool_) thread.join();
}

void Workers::run(std::size_t count, const std::function<void(std::size_t)>& work) {
  if (count <= 1 || pool_.empty()) return run_alone(count, work);
  work_ = &work;
  count_ = count;
  next_.store(0, std::memory_order_relaxed);
  gate_.store(kOpen, std::memory_order_release);
  rouse();
  work_off();
  // A thread that has not come in finds the gate closed; one that is inside is at its last index.
  std::uint32_t inside = gate_.fetch_and(~kOpen, std::memory_order_acq_rel) & ~kOpen;
  while (inside != 0) {
    relax();
    inside = gate_.load(std::memory_order_acquire);
  }
  const std::lock_guard lock(error_mutex_);
  if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
}

/// What one thread does by itself costs no locks.
void Workers::run_alone(std::size_t count, const std::function<void(std::size_t)>& work) {
  std::exception_ptr error;
  for (std::size_t i = 0; i < count; ++i) {
    try {
      work(i);
    } catch (...) {
      error = std::current_exception();
    }
  }
  if (error) std::rethrow_exception(error);
}

/// Threads that wake find the gate closed, unless a loop has begun.
void Workers::rouse() {
  loop_.fetch_add(1, std::memory_order_release);
  loop_.notify_all();
}

void Workers::serve() {
  name_thread("worker");
  std::uint32_t seen = 0;
  while (true) {
    await(seen);
    seen = loop_.load(std::memory_order_acquire);
    if (ending_.load(std::memory_order_relaxed)) return;
    std::uint32_t gate = gate_.load(std::memory_order_relaxed);
    while ((gate & kOpen) != 0) {
      if (!gate_.compare_exchange_weak(gate, gate + 1, std::memory_order_acquire)) continue;
      work_off();
      gate_.fetch_sub(1, std::memory_order_release);
      break;
    }
  }
}

void Workers::await(std::uint32_t seen) const {
  for (int look = 0; look < kLooks; ++look) {
    if (loop_.load(std::memory_order_relaxed) != seen) return;
    relax();
  }
  loop_.wait(seen, std::memory_order_relaxed);
}

void Workers::work_off() {
  for (std::size_t i; (i = next_.fetch_add(1, std::memory_order_relaxed)) < count_;) {
    try {
      (*work_)(i);
    } catch (...) {
      const std::lock_guard lock(error_mutex_);
      error_ = std::current_exception();
    }
  }
}

}  // namespace gorgo
