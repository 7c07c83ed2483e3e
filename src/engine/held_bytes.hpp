#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>

namespace gorgo::engine {

/// What composites take between their evaluation and their delivery, in bytes, and how much they
/// may take. The sinks of several evaluations add to it and stop when it is full.
///
/// Thread-safety: any thread may call `add`, `remove` and `is_full`; `restart` is called while no
/// sink is at work.
class HeldBytes {
 public:
  /// `most`: the bound. `beside`: what a composite takes besides what its sink knows of.
  HeldBytes(std::size_t most, std::size_t beside) : most_(most), beside_(beside) {}

  /// Sets how many bytes are held. `extra` bytes may be added even if that goes beyond the bound:
  /// while what is held cannot be delivered yet, evaluation goes on in steps that are worth it.
  void restart(std::size_t held, std::size_t extra) {
    held_.store(held, std::memory_order_relaxed);
    in_force_ = std::max(most_, held + extra);
  }

  void add(std::size_t bytes) {
    const std::size_t held = held_.fetch_add(bytes, std::memory_order_relaxed) + bytes;
    std::size_t peak = peak_.load(std::memory_order_relaxed);
    while (held > peak && !peak_.compare_exchange_weak(peak, held, std::memory_order_relaxed)) {
    }
  }
  void remove(std::size_t bytes) { held_.fetch_sub(bytes, std::memory_order_relaxed); }

  /// Whether so many bytes more would reach the bound.
  bool is_full(std::size_t more) const {
    const std::size_t held = held_.load(std::memory_order_relaxed);
    return held >= in_force_ || more >= in_force_ - held;
  }

  std::size_t beside() const { return beside_; }
  /// The most that was held so far.
  std::size_t peak() const { return peak_.load(std::memory_order_relaxed); }
  /// How many bytes a sink may keep for itself before it adds them: additions are few then, and the
  /// error is small.
  std::size_t grain() const {
    constexpr std::size_t kParts = 1024, kLargest = 64 << 10;
    return std::clamp<std::size_t>(most_ / kParts, 1, kLargest);
  }

 private:
  const std::size_t most_;
  const std::size_t beside_;
  std::size_t in_force_ = 0;
  std::atomic<std::size_t> held_ = 0;
  std::atomic<std::size_t> peak_ = 0;
};

}  // namespace gorgo::engine
