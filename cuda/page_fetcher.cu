#include "cuda/page_fetcher.hpp"

#include <algorithm>

#include "cuda/profiling.hpp"

namespace gorgo::gpu {
namespace {

constexpr unsigned kBlocks = 32, kThreadsOfBlock = 256;

/// Copies pages from pinned memory of the host, each block one piece after the other. Each thread
/// has several loads under way, since each takes microseconds.
__global__ void copy_pages(const Fetch* pages, std::uint64_t count, std::uint64_t* arena,
                           std::uint32_t page_shift) {
  constexpr std::uint32_t kPieceShift = 11, kLoads = 8;
  const std::uint32_t shift = min(page_shift, kPieceShift);
  const std::uint32_t words = 1U << shift;
  for (std::uint64_t piece = blockIdx.x; piece < count << (page_shift - shift);
       piece += gridDim.x) {
    const Fetch page = pages[piece >> (page_shift - shift)];
    const std::uint64_t first = (piece << shift) & ((std::uint64_t{1} << page_shift) - 1);
    const std::uint64_t* const from = page.from + first;
    std::uint64_t* const to = arena + (std::uint64_t{page.page} << page_shift) + first;
    std::uint64_t loaded[kLoads];
#pragma unroll
    for (std::uint32_t i = 0; i < kLoads; ++i) {
      const std::uint32_t word = i * blockDim.x + threadIdx.x;
      if (word < words) loaded[i] = from[word];
    }
#pragma unroll
    for (std::uint32_t i = 0; i < kLoads; ++i) {
      const std::uint32_t word = i * blockDim.x + threadIdx.x;
      if (word < words) to[word] = loaded[i];
    }
  }
}

}  // namespace

PageFetcher::~PageFetcher() {
  for (const cudaEvent_t event : done_) cudaEventDestroy(event);
  cudaStreamDestroy(stream_);
}

void PageFetcher::open() {
  int least = 0, greatest = 0;
  check(cudaDeviceGetStreamPriorityRange(&least, &greatest), "asking for priorities");
  // With this priority its few blocks do not wait until all those of a round have begun.
  check(cudaStreamCreateWithPriority(&stream_, cudaStreamNonBlocking, greatest), "making a stream");
  for (cudaEvent_t& event : done_) {
    check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "making an event");
  }
}

void PageFetcher::start(std::span<const Fetch> pages, std::uint64_t* arena,
                        std::uint32_t page_shift) {
  const std::size_t slot = (started_ + 1) % done_.size();
  // Waits for the batch that had the list before.
  check(cudaEventSynchronize(done_[slot]), "fetching pages");
  lists_[slot].reserve(pages.size());
  std::ranges::copy(pages, lists_[slot].data());
  if (!pages.empty()) {
    const ProfiledRange range("copy_pages");
    copy_pages<<<kBlocks, kThreadsOfBlock, 0, stream_>>>(lists_[slot].data(), pages.size(), arena,
                                                         page_shift);
    check(cudaGetLastError(), "fetching pages");
  }
  ++started_;
  check(cudaEventRecord(done_[slot], stream_), "recording an event");
}

void PageFetcher::make_wait(cudaStream_t stream, std::uint64_t batch) {
  check(cudaStreamWaitEvent(stream, done_[batch % done_.size()], 0), "waiting for pages");
}

void PageFetcher::wait_for(cudaEvent_t event) {
  check(cudaStreamWaitEvent(stream_, event, 0), "waiting for an event");
}

}  // namespace gorgo::gpu
