#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "cuda/inline_upload.hpp"
#include "cuda/memory.hpp"

namespace gorgo::gpu {

/// Fused launches of a round, each in a stream of its own, so that they run side by side. A launch
/// itself says when its answers are there, and the host polls for that, which is sooner than the
/// driver would know.
///
/// The caller has the device as its current one.
class FusedLaunches {
 public:
  /// At most so many launches are under way at a time.
  static constexpr std::size_t kCapacity = 8;

  FusedLaunches() = default;
  FusedLaunches(const FusedLaunches&) = delete;
  FusedLaunches& operator=(const FusedLaunches&) = delete;
  ~FusedLaunches();

  /// Call this first. It and all that follows throw DeviceError.
  void open();

  /// Begins the launches of a round. Precondition: none is under way.
  void begin() { ++number_; }
  /// Launches a kernel. Sets in `upload` how it says that its answers are there.
  void launch(const void* kernel, dim3 blocks, dim3 threads, InlineUpload& upload, void* arguments);
  /// Waits until all launches have answered.
  void wait();

 private:
  bool has_answered(std::size_t launch) const;
  void wait(std::size_t launch);

  std::array<cudaStream_t, kCapacity> streams_ = {};
  PinnedArray<std::uint32_t> flags_;  // by launch: the number of the round that it has answered
  std::size_t launched_ = 0;
  std::uint32_t number_ = 0;
};

}  // namespace gorgo::gpu
