#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>

#include "cuda/device.hpp"
#include "cuda/shape_kernels.cuh"

namespace gorgo::cuda {

/// The shapes that a GPU was told of, and their kernels, which NVRTC compiles when they are first
/// asked for. Any thread.
class ShapeCache {
 public:
  /// `capability`: of the GPU, 90 is 9.0.
  ShapeCache(int capability, Compile compile);

  /// By text: the same one has the same number.
  std::uint32_t number(const std::string& text);
  /// That of a shape, or that of any shape as long as it has none of its own.
  const void* kernel(std::uint32_t shape, KernelKind kind);

  ShapeCounters counters() const;

 private:
  struct Entry {
    std::string text;
    ShapeKernels kernels = {};
    bool wanted[kKernelKinds] = {};
  };
  struct Order {
    std::uint32_t shape;
    KernelKind kind;
  };

  void work(const std::stop_token& stop);
  /// With the lock held but while it compiles.
  void fulfil(const Order& order, std::unique_lock<std::mutex>& lock);
  /// Null when that fails.
  const void* compile(const std::string& text, KernelKind kind) const;

  const int capability_;
  const Compile compile_;
  mutable std::mutex mutex_;
  std::condition_variable_any ordered_;
  std::unordered_map<std::string, std::uint32_t> numbers_;  // guarded by mutex_, as all below
  std::deque<Entry> entries_;                               // by shape
  std::deque<Order> orders_;
  ShapeCounters counters_;
  std::jthread worker_;  // last: ends before the rest
};

}  // namespace gorgo::cuda
