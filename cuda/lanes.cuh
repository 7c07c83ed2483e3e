#pragma once

#include <algorithm>
#include <array>
#include <atomic>

#include "cuda/memory.cuh"
#include "cuda/parcel.hpp"

namespace gorgo::gpu {

/// Launches that their round goes along with. Each is in a stream of its own, so that they go side
/// by side. A launch says itself when its answers are there, and the host looks out for that, which
/// is sooner than the driver would know. Whoever calls has the device as its current one.
class Lanes {
 public:
  /// At most so many launches go on at a time.
  static constexpr std::size_t kMost = 8;

  Lanes() = default;
  Lanes(const Lanes&) = delete;
  Lanes& operator=(const Lanes&) = delete;
  ~Lanes() {
    for (const cudaStream_t stream : streams_) cudaStreamDestroy(stream);
  }

  /// Call this first. It and all that follows throw DeviceError.
  void open() {
    for (cudaStream_t& stream : streams_) {
      check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "making a stream");
    }
    flags_.reserve(kMost);
    std::fill_n(flags_.data(), kMost, number_);
  }

  /// Begins the launches of a round. Precondition: none goes on.
  void begin() { ++number_; }
  /// Launches a kernel. `parcel` tells it how to say that its answers are there.
  void launch(const void* kernel, dim3 blocks, dim3 threads, Parcel& parcel, void* arguments) {
    parcel.flag = flags_.data() + launched_;
    parcel.number = number_;
    void* all[] = {&parcel, arguments};
    check(cudaLaunchKernel(kernel, blocks, threads, all, 0, streams_[launched_]),
          "launching a kernel");
    ++launched_;
  }
  /// Waits until all launches have answered.
  void wait() {
    for (std::size_t i = 0; i < launched_; ++i) wait(i);
    launched_ = 0;
  }

 private:
  /// How often the host looks for an answer before it asks whether the kernel has failed: that
  /// takes some tenths of a millisecond.
  static constexpr unsigned kLooks = 4096;

  bool has_answered(std::size_t lane) {
    return std::atomic_ref(flags_.data()[lane]).load(std::memory_order_acquire) == number_;
  }

  void wait(std::size_t lane) {
    for (unsigned looks = 1; !has_answered(lane); ++looks) {
#if defined(__x86_64__)
      __builtin_ia32_pause();
#endif
      if (looks % kLooks != 0) continue;
      const cudaError_t state = cudaStreamQuery(streams_[lane]);
      if (state == cudaErrorNotReady) {
        cudaGetLastError();
        continue;
      }
      check(state, "running kernels");
      if (!has_answered(lane)) throw DeviceError("a kernel has ended without an answer", true);
    }
  }

  std::array<cudaStream_t, kMost> streams_ = {};
  PinnedArray<std::uint32_t> flags_;
  std::size_t launched_ = 0;
  std::uint32_t number_ = 0;
};

}  // namespace gorgo::gpu
