#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "cuda/device.hpp"
#include "cuda/fused_launches.hpp"
#include "cuda/kernel_cache.hpp"
#include "cuda/page_fetcher.hpp"
#include "cuda/staged_round.hpp"

namespace gorgo::gpu {

/// What the channels of a GPU share.
struct GpuResources {
  int index;
  std::uint32_t page_shift;
  std::uint32_t pages;
  std::shared_ptr<KernelCache> kernels;
  DeviceArray<std::uint64_t> arena = {};
  PageFetcher fetcher = {};

  /// Makes the GPU the calling thread's current device.
  void use() const { check(cudaSetDevice(index), "taking a GPU into use"); }
};

/// A channel of a GPU. A round is one upload, kernels in one stream, and a wait for that stream. A
/// small round is an argument of its kernels, which are fused launches. The kernels themselves
/// write answers to memory of the host.
class GpuChannel final : public Channel {
 public:
  /// `shared` outlives the channel. `first`: words are written through this channel. `fuses`: small
  /// rounds may be fused with their launches. Throws DeviceError.
  GpuChannel(GpuResources& shared, bool first, bool fuses);
  ~GpuChannel() override;
  GpuChannel(const GpuChannel&) = delete;
  GpuChannel& operator=(const GpuChannel&) = delete;

  /// Calls f; after a failure what was written is lost.
  template <class F>
  void guarded(F f) {
    try {
      f();
    } catch (const DeviceError&) {
      upload_.forget();
      throw;
    }
  }

  // The functions below are for the first channel. What is written goes with its next round, unless
  // it is published before.

  /// Whether something is staged for a page.
  bool touches(std::uint32_t page) const { return upload_.delta().touches(page); }
  void write(std::uint32_t page, std::uint32_t offset, std::span<const std::uint64_t> words);
  void flush();
  /// Returns what others have to wait for.
  cudaEvent_t publish();

  /// Makes the rounds of another channel wait for what was published.
  void wait_for(cudaEvent_t published);

  void start(const Round& round) override;
  Answers finish() override;

 private:
  void synchronize();
  void wait_for_publication();
  void wait_for_kernels();
  void abandon_round();
  void wait_for_pages(std::uint64_t batch);
  bool may_fuse(const Round& round) const;
  void send(const Round& round);
  template <class Arguments>
  void launch(std::uint32_t shape, KernelKind kind, dim3 blocks, Arguments arguments,
              const StagedKind::Zeros& zeros);
  template <class Arguments>
  void launch_groups(const StagedKind& kind, KernelKind kernel, Arguments arguments);
  void launch_select_one(const StagedKind& selections, KernelKind kernel,
                         const PinnedArray<std::uint32_t>& found);
  void launch_select_several(const StagedKind& selections, KernelKind kernel,
                             const PinnedArray<std::uint32_t>& found);
  void launch_select_all(const Round& round);
  template <class Total>
  void launch_reductions(const StagedKind& kind, KernelKind which, PinnedArray<Total>& totals);
  Answers answers(const Round& round);
  bool sort_matches(const Round& round);

  GpuResources& shared_;
  const bool fuses_;
  cudaStream_t stream_ = nullptr;
  cudaEvent_t published_ = nullptr;
  Upload upload_;
  FusedLaunches fused_launches_;
  std::uint64_t awaited_ = 0;   // the last batch of fetched pages that the stream waits for
  bool is_publishing_ = false;  // what is staged may be on its way

  // The members below belong to the round in hand.
  const Round* round_ = nullptr;
  LaunchMode mode_ = LaunchMode::separate;
  StagedRound staged_;
  View view_;
  InlineUpload inline_upload_;
  PinnedArray<std::uint32_t> oldest_, newest_, selected_, counts_;
  PinnedArray<Match> matches_;
  PinnedArray<Reduction> reduced_;
  PinnedArray<FloatSum> summed_;
  std::vector<std::uint64_t> begins_, next_;
  std::vector<std::uint32_t> listed_;
};

}  // namespace gorgo::gpu
