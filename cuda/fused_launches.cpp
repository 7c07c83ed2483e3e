#include "cuda/fused_launches.hpp"

#include <algorithm>
#include <atomic>
#include <cassert>

namespace gorgo::gpu {
namespace {

/// How often the host looks for an answer before it asks whether the kernel has failed, which takes
/// some tenths of a millisecond.
constexpr unsigned kPolls = 4096;

}  // namespace

FusedLaunches::~FusedLaunches() {
  for (const cudaStream_t stream : streams_) cudaStreamDestroy(stream);
}

void FusedLaunches::open() {
  for (cudaStream_t& stream : streams_) {
    check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "making a stream");
  }
  flags_.reserve(kCapacity);
  std::fill_n(flags_.data(), kCapacity, number_);
}

void FusedLaunches::launch(const void* kernel, dim3 blocks, dim3 threads, InlineUpload& upload,
                           void* arguments) {
  assert(launched_ < kCapacity);
  upload.flag = flags_.data() + launched_;
  upload.number = number_;
  void* all[] = {&upload, arguments};
  check(cudaLaunchKernel(kernel, blocks, threads, all, 0, streams_[launched_]),
        "launching a kernel");
  ++launched_;
}

void FusedLaunches::wait() {
  for (std::size_t i = 0; i < launched_; ++i) wait(i);
  launched_ = 0;
}

/// Pairs with the release in `finish` of cuda/kernels.cuh: whoever sees the number sees the
/// answers.
bool FusedLaunches::has_answered(std::size_t launch) const {
  return std::atomic_ref(flags_.data()[launch]).load(std::memory_order_acquire) == number_;
}

void FusedLaunches::wait(std::size_t launch) {
  for (unsigned polls = 1; !has_answered(launch); ++polls) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
    if (polls % kPolls != 0) continue;
    const cudaError_t state = cudaStreamQuery(streams_[launch]);
    if (state == cudaErrorNotReady) {
      cudaGetLastError();
      continue;
    }
    check(state, "running kernels");
    if (!has_answered(launch)) throw DeviceError("a kernel has ended without an answer", true);
  }
}

}  // namespace gorgo::gpu
