#pragma once

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "cuda/copies.cuh"
#include "cuda/lanes.cuh"
#include "cuda/shape_cache.cuh"
#include "cuda/staged_round.cuh"

namespace gorgo::gpu {

/// What the channels of a GPU share.
struct GpuParts {
  int index;
  std::uint32_t page_shift;
  std::uint32_t pages;
  std::shared_ptr<ShapeCache> shapes;
  DeviceArray<std::uint64_t> arena = {};
  Copies copies = {};

  /// Makes the GPU the calling thread's current device.
  void use() const { check(cudaSetDevice(index), "taking a GPU into use"); }
};

/// A channel of a GPU. A round is one upload, kernels in one stream, and a wait for that stream. A
/// small round goes along with its kernels, which run side by side, and the host looks out for
/// their answers. The kernels themselves write answers to memory of the host.
class GpuChannel final : public Channel {
 public:
  /// `parts` outlive the channel. `first`: words are written through this channel. `along`: small
  /// rounds may go with their launches. Throws DeviceError.
  GpuChannel(GpuParts& parts, bool first, bool along)
      : parts_(parts),
        may_go_along_(along),
        upload_(parts.arena.data(), parts.page_shift, first ? parts.pages : 0) {
    check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "making a stream");
    check(cudaEventCreateWithFlags(&published_, cudaEventDisableTiming), "making an event");
    if (along) lanes_.open();
  }
  ~GpuChannel() override {
    cudaEventDestroy(published_);
    cudaStreamDestroy(stream_);
  }
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

  bool writes(std::uint32_t page) const { return upload_.delta().writes(page); }
  void write(std::uint32_t page, std::uint32_t offset, std::span<const std::uint64_t> words) {
    guarded([&] {
      settle();
      if (upload_.delta().is_full(page, offset, words.size())) flush();
      upload_.write(page, offset, words);
    });
  }
  void flush() {
    publish();
    settle();
  }
  /// Returns what others have to wait for.
  cudaEvent_t publish() {
    guarded([&] {
      settle();
      wait_for_copies(parts_.copies.started());
      upload_.begin();
      counters_.uploaded += upload_.send(stream_);
      check(cudaEventRecord(published_, stream_), "recording an event");
      is_publishing_ = true;
    });
    return published_;
  }

  /// Has the rounds of another channel wait for what was published.
  void wait_for(cudaEvent_t published) {
    check(cudaStreamWaitEvent(stream_, published, 0), "waiting for an event");
  }

  void start(const Round& round) override {
    guarded([&] {
      parts_.use();
      give_up();
      settle();
      round_ = &round;
      send(round);
      // What takes longest is launched first: in lanes, kernels go side by side.
      launch_reductions(staged_.sums, KernelKind::sum, summed_);
      launch_reductions(staged_.reductions, KernelKind::reduce, reduced_);
      launch_lists(round);
      launch_picks<false>(staged_.oldest, oldest_);
      launch_picks<true>(staged_.newest, newest_);
      check(cudaGetLastError(), "launching kernels");
    });
  }

  Answers finish() override {
    guarded([&] {
      parts_.use();
      wait();
    });
    const Round& round = *std::exchange(round_, nullptr);
    count(round);
    return answers(round);
  }

 private:
  void synchronize() { check(cudaStreamSynchronize(stream_), "running kernels"); }
  /// Waits until what was published has left the memory that the next round is staged in.
  void settle() {
    if (std::exchange(is_publishing_, false)) synchronize();
  }
  /// Waits for the round's kernels.
  void wait() {
    if (along_) {
      lanes_.wait();
    } else {
      synchronize();
    }
  }
  /// Ends a round that was begun and that nobody waits for.
  void give_up() {
    if (std::exchange(round_, nullptr) != nullptr) wait();
  }
  void wait_for_copies(std::uint64_t batch) {
    if (batch <= awaited_) return;
    parts_.copies.let_wait(stream_, batch);
    awaited_ = batch;
  }

  /// Only the stream waits for copies, so a round with pages that it has not waited for goes apart.
  bool may_go_along(const Round& round) const {
    return may_go_along_ && round.fetched <= awaited_ && staged_.fits_along(upload_.delta().size());
  }

  void send(const Round& round) {
    staged_.stage(round, upload_);
    along_ = may_go_along(round) && upload_.put_into(parcel_);
    if (along_) {
      counters_.uploaded += parcel_.words * sizeof(std::uint64_t);
      lanes_.begin();
    } else {
      wait_for_copies(round.fetched);
      counters_.uploaded += upload_.send(stream_);
    }
    parcel_.view = view_ = staged_.view(upload_, parts_.arena.data(), parts_.page_shift);
    selected_.reserve(round.selected);
  }

  template <class Arguments>
  void launch(std::uint32_t shape, KernelKind kind, dim3 blocks, Arguments arguments,
              const StagedKind::Zeros& zeros) {
    static_assert(sizeof(Parcel) + sizeof(Arguments) <= 4096);
    const void* const kernel =
        parts_.shapes->kernel(shape, kind, along_ ? Sent::along : Sent::apart);
    if (along_) {
      parcel_.zeroed = upload_.zeros<std::uint64_t>(zeros.first);
      parcel_.zeros = static_cast<std::uint32_t>(zeros.last - zeros.first);
      parcel_.groups_done = upload_.zeros<std::uint32_t>(zeros.first);
      lanes_.launch(kernel, blocks, dim3(kThreads), parcel_, &arguments);
      return;
    }
    void* all[] = {&view_, &arguments};
    check(cudaLaunchKernel(kernel, blocks, dim3(kThreads), all, 0, stream_), "launching a kernel");
  }

  /// `arguments(groups, parts, done)`: what each launch is told.
  template <class Arguments>
  void launch_groups(const StagedKind& kind, KernelKind kernel, Arguments arguments) {
    for (const Grouping::Section& section : kind.grouping.group_sections()) {
      const Parts parts = parts_of(section);
      launch(section.shape, kernel, dim3(section.count, parts.each),
             arguments(upload_.array<Group>(kind.groups) + section.first, parts,
                       upload_.zeros<std::uint32_t>(kind.done) + section.first),
             kind.grouped);
    }
  }

  template <bool kNewest>
  void launch_picks(const StagedKind& picks, PinnedArray<std::uint32_t>& found) {
    found.reserve(picks.count);
    const auto* on = upload_.array<Search>(picks.searches);
    launch_groups(picks, kNewest ? KernelKind::pick_newest : KernelKind::pick_oldest,
                  [&](const Group* groups, Parts parts, std::uint32_t* done) {
                    return PickArguments{.searches = on,
                                         .groups = groups,
                                         .parts = parts,
                                         .ranks = upload_.zeros<std::uint32_t>(picks.partial),
                                         .done = done,
                                         .found = found.data(),
                                         .selected = selected_.data()};
                  });
    for (const Grouping::Section& section : picks.grouping.row_sections()) {
      const auto* rows = upload_.array<std::uint32_t>(picks.rows) + section.first;
      launch(section.shape, kNewest ? KernelKind::select_newest : KernelKind::select_oldest,
             dim3(section.count),
             SelectArguments{
                 .searches = on, .rows = rows, .found = found.data(), .selected = selected_.data()},
             picks.alone);
    }
  }

  void launch_lists(const Round& round) {
    if (round.every.empty()) return;
    counts_.reserve(round.every.size());
    matches_.reserve(round.most_listed);
    const StagedKind& every = staged_.every;
    launch_groups(every, KernelKind::list,
                  [&](const Group* groups, Parts parts, std::uint32_t* done) {
                    return ListArguments{.searches = upload_.array<Search>(every.searches),
                                         .groups = groups,
                                         .parts = parts,
                                         .total = upload_.zeros<unsigned long long>(every.total),
                                         .counts = upload_.zeros<std::uint32_t>(every.partial),
                                         .done = done,
                                         .most = round.most_listed,
                                         .counts_on_host = counts_.data(),
                                         .matches = matches_.data()};
                  });
  }

  template <class Total>
  void launch_reductions(const StagedKind& kind, KernelKind which, PinnedArray<Total>& totals) {
    totals.reserve(kind.count);
    launch_groups(kind, which, [&](const Group* groups, Parts parts, std::uint32_t* done) {
      return ReduceArguments<Total>{.searches = upload_.array<Search>(kind.searches),
                                    .groups = groups,
                                    .parts = parts,
                                    .done = done,
                                    .totals = upload_.zeros<Total>(kind.partial),
                                    .totals_on_host = totals.data()};
    });
  }

  Answers answers(const Round& round) {
    const bool listed_all = put_in_order(round);
    return {.oldest = {oldest_.data(), round.oldest.size()},
            .newest = {newest_.data(), round.newest.size()},
            .selected = {selected_.data(), round.selected},
            .every = begins_,
            .listed = listed_,
            .listed_all = listed_all,
            .reductions = {reduced_.data(), round.reductions.size()},
            .sums = {summed_.data(), round.sums.size()}};
  }

  /// Puts matches in order, which come as they are found. Returns false when there are too many for
  /// all to have come.
  bool put_in_order(const Round& round) {
    begins_.assign(1, 0);
    for (std::size_t i = 0; i < round.every.size(); ++i) {
      begins_.push_back(begins_.back() + counts_.data()[i]);
    }
    const std::uint64_t total = begins_.back();
    const bool listed_all = total <= round.most_listed;
    listed_.resize(listed_all ? total : 0);
    if (listed_.empty()) return listed_all;
    next_.assign(begins_.begin(), begins_.end() - 1);
    for (const Match& match : std::span(matches_.data(), total)) {
      listed_[next_[match.search]++] = match.offset;
    }
    for (std::size_t i = 0; i + 1 < begins_.size(); ++i) {
      const auto first = listed_.begin() + static_cast<std::ptrdiff_t>(begins_[i]);
      const auto last = listed_.begin() + static_cast<std::ptrdiff_t>(begins_[i + 1]);
      if (!std::is_sorted(first, last)) std::sort(first, last);
    }
    return true;
  }

  GpuParts& parts_;
  const bool may_go_along_;
  cudaStream_t stream_ = nullptr;
  cudaEvent_t published_ = nullptr;
  Upload upload_;
  Lanes lanes_;
  std::uint64_t awaited_ = 0;   // the last batch of copies that the stream waits for
  bool is_publishing_ = false;  // what is staged may be on its way

  // The members below belong to the round in hand.
  const Round* round_ = nullptr;
  bool along_ = false;  // launches have it with them
  StagedRound staged_;
  View view_;
  Parcel parcel_;
  PinnedArray<std::uint32_t> oldest_, newest_, selected_, counts_;
  PinnedArray<Match> matches_;
  PinnedArray<Reduction> reduced_;
  PinnedArray<FloatSum> summed_;
  std::vector<std::uint64_t> begins_, next_;
  std::vector<std::uint32_t> listed_;
};

}  // namespace gorgo::gpu
