#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "cuda/device.hpp"
#include "cuda/memory.hpp"

namespace gorgo::gpu {

/// Copies pages from pinned memory of the host, in a stream of its own, beside the kernels of
/// rounds. A kernel copies them, because the driver takes a microsecond of the host for each page.
///
/// The caller has the device as its current one.
class PageFetcher {
 public:
  PageFetcher() = default;
  PageFetcher(const PageFetcher&) = delete;
  PageFetcher& operator=(const PageFetcher&) = delete;
  ~PageFetcher();

  /// Call this first. It and all that follows throw DeviceError.
  void open();

  /// Begins a batch of copies.
  void start(std::span<const Fetch> pages, std::uint64_t* arena, std::uint32_t page_shift);
  /// How many batches were begun so far.
  std::uint64_t started() const { return started_; }

  /// Makes a stream wait for the batch of that number, counted from 1, or a later one. Any thread.
  void make_wait(cudaStream_t stream, std::uint64_t batch);
  /// Makes batches that are not begun yet wait for an event.
  void wait_for(cudaEvent_t event);

 private:
  cudaStream_t stream_ = nullptr;
  std::array<cudaEvent_t, 8> done_ = {};  // of the last batches
  std::array<PinnedArray<Fetch>, 8> lists_;
  std::uint64_t started_ = 0;
};

}  // namespace gorgo::gpu
