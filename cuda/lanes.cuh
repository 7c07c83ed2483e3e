#pragma once

#include <algorithm>
#include <array>
#include <atomic>

#include "cuda/memory.cuh"
#include "cuda/parcel.hpp"

namespace gorgo::cuda {

/// Launches that have their round along: each in a stream of its own, so that they go side by side.
/// A launch says itself when its answers are there, and the host looks out for that, which is
/// sooner than the driver would know. Whoever calls has the device as its current one.
class Lanes {
 public:
  /// Launches at a time.
  static constexpr std::size_t kMost = 8;

  Lanes() = default;
  Lanes(const Lanes&) = delete;
  Lanes& operator=(const Lanes&) = delete;
  ~Lanes() {
    for (const cudaStream_t stream : streams_) cudaStreamDestroy(stream);
  }

  /// Call first. Throws DeviceError, as all that follows.
  void open() {
    for (cudaStream_t& stream : streams_) {
      check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "making a stream");
    }
    flags_.reserve(kMost);
    std::fill_n(flags_.data(), kMost, number_);
  }

  /// Begins the launches of a round. Precondition: none goes on.
  void begin() { ++number_; }
  /// The launch is told what to say.
  void launch(const void* kernel, dim3 blocks, dim3 threads, Parcel& parcel, void* arguments) {
    parcel.flag = flags_.data() + launched_;
    parcel.number = number_;
    void* all[] = {&parcel, arguments};
    check(cudaLaunchKernel(kernel, blocks, threads, all, 0, streams_[launched_]),
          "launching a kernel");
    ++launched_;
  }
  /// Until all of them have answered.
  void wait() {
    for (std::size_t i = 0; i < launched_; ++i) wait(i);
    launched_ = 0;
  }

 private:
  /// Looks between two questions whether the kernel has failed: some tenths of a millisecond.
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

}  // namespace gorgo::cuda
