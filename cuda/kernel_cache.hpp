#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#include "cuda/device.hpp"
#include "cuda/kernel_table.hpp"

namespace gorgo::gpu {

/// The shapes that a GPU was told of, and their kernels, which NVRTC compiles when they are first
/// asked for. Any thread may call.
class KernelCache {
 public:
  /// `capability`: of the GPU, 90 is 9.0, which is the current one or another of its kind.
  KernelCache(int capability, Compile compile);

  /// The number of a shape: equal texts have the same one.
  std::uint32_t number(const std::string& text, std::uint32_t fallback);
  /// The kernel of a shape, or that of `fallback` as long as it has none of its own.
  const void* kernel(std::uint32_t shape, KernelKind kind, LaunchMode mode);

  ShapeCounters counters() const;

 private:
  struct Entry {
    std::string text;
    std::uint32_t fallback = 0;
    KernelTable kernels = {};
    bool requested[2 * kKernelKinds] = {};
    bool finished[2 * kKernelKinds] = {};  ///< compiled, or tried in vain
  };
  /// Shared with what is being compiled, which may outlast the cache.
  struct State {
    std::mutex mutex;
    std::unordered_map<std::string, std::uint32_t> numbers;  // guarded by mutex, as all below
    std::deque<Entry> entries;                               // by shape
    ShapeCounters counters;
    std::condition_variable was_finished;
  };

  static void compile(State& state, int capability, std::uint32_t shape, KernelKind kind,
                      LaunchMode mode);
  void request(std::uint32_t shape, KernelKind kind, LaunchMode mode);

  const int capability_;
  const Compile compile_;
  const std::shared_ptr<State> state_ = std::make_shared<State>();
};

}  // namespace gorgo::gpu
