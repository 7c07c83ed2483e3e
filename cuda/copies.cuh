#pragma once

#include <array>
#include <span>
#include <vector>

#include "cuda/device.hpp"
#include "cuda/memory.cuh"

namespace gorgo::cuda {

/// Copies of pages from pinned memory, in a stream of their own: by the copy engine, while kernels
/// run. Whoever calls has the device as its current one.
class Copies {
 public:
  Copies() = default;
  Copies(const Copies&) = delete;
  Copies& operator=(const Copies&) = delete;
  ~Copies() {
    for (const cudaEvent_t event : done_) cudaEventDestroy(event);
    cudaStreamDestroy(stream_);
  }

  /// Call first. Throws DeviceError, as all that follows.
  void open() {
    check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "making a stream");
    for (cudaEvent_t& event : done_) {
      check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "making an event");
    }
  }

  /// Begins a batch of copies, all of them one call of the driver.
  void start(std::span<const Fetch> pages, std::uint64_t* arena, std::uint32_t page_shift) {
    to_.clear();
    from_.clear();
    for (const Fetch& page : pages) {
      to_.push_back(arena + (std::size_t{page.page} << page_shift));
      from_.push_back(page.from);
    }
    sizes_.assign(pages.size(), sizeof(std::uint64_t) << page_shift);
    cudaMemcpyAttributes how{};
    how.srcAccessOrder = cudaMemcpySrcAccessOrderStream;
    how.flags = cudaMemcpyFlagPreferOverlapWithCompute;
    std::size_t first = 0;
    if (!pages.empty()) {
      check(cudaMemcpyBatchAsync(to_.data(), from_.data(), sizes_.data(), pages.size(), &how,
                                 &first, 1, stream_),
            "fetching pages");
    }
    ++started_;
    check(cudaEventRecord(done_[started_ % done_.size()], stream_), "recording an event");
  }

  /// Batches so far.
  std::uint64_t started() const { return started_; }
  /// Has a stream wait for the batch of that number, counted from 1, or a later one. Any thread.
  void let_wait(cudaStream_t stream, std::uint64_t batch) {
    check(cudaStreamWaitEvent(stream, done_[batch % done_.size()], 0), "waiting for pages");
  }

 private:
  cudaStream_t stream_ = nullptr;
  std::array<cudaEvent_t, 8> done_ = {};  // of the last batches
  std::uint64_t started_ = 0;
  std::vector<void*> to_;
  std::vector<const void*> from_;
  std::vector<std::size_t> sizes_;
};

}  // namespace gorgo::cuda
