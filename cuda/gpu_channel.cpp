#include "cuda/gpu_channel.hpp"

#include <algorithm>
#include <utility>

#include "cuda/profiling.hpp"

namespace gorgo::gpu {

GpuChannel::GpuChannel(GpuResources& shared, bool first, bool fuses)
    : shared_(shared),
      fuses_(fuses),
      upload_(shared.arena.data(), shared.page_shift, first ? shared.pages : 0) {
  check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "making a stream");
  check(cudaEventCreateWithFlags(&published_, cudaEventDisableTiming), "making an event");
  if (fuses) fused_launches_.open();
}

GpuChannel::~GpuChannel() {
  cudaEventDestroy(published_);
  cudaStreamDestroy(stream_);
}

void GpuChannel::write(std::uint32_t page, std::uint32_t offset,
                       std::span<const std::uint64_t> words) {
  guarded([&] {
    wait_for_publication();
    if (upload_.delta().is_full(page, offset, words.size())) flush();
    upload_.write(page, offset, words);
  });
}

void GpuChannel::flush() {
  publish();
  wait_for_publication();
}

cudaEvent_t GpuChannel::publish() {
  const ProfiledRange range("publish");
  guarded([&] {
    wait_for_publication();
    wait_for_pages(shared_.fetcher.started());
    upload_.begin();
    counters_.uploaded += upload_.send(stream_);
    check(cudaEventRecord(published_, stream_), "recording an event");
    is_publishing_ = true;
  });
  return published_;
}

void GpuChannel::wait_for(cudaEvent_t published) {
  check(cudaStreamWaitEvent(stream_, published, 0), "waiting for an event");
}

void GpuChannel::start(const Round& round) {
  const ProfiledRange range("start round");
  guarded([&] {
    shared_.use();
    abandon_round();
    wait_for_publication();
    round_ = &round;
    send(round);
    // What takes longest is launched first: fused launches run side by side.
    launch_reductions(staged_.sums, KernelKind::sum, summed_);
    launch_reductions(staged_.reductions, KernelKind::reduce, reduced_);
    launch_select_all(round);
    oldest_.reserve(staged_.oldest.count);
    launch_select_one(staged_.oldest, KernelKind::select_one_oldest, oldest_);
    launch_select_several(staged_.oldest, KernelKind::select_several_oldest, oldest_);
    newest_.reserve(staged_.newest.count);
    launch_select_one(staged_.newest, KernelKind::select_one_newest, newest_);
    launch_select_several(staged_.newest, KernelKind::select_several_newest, newest_);
  });
}

Answers GpuChannel::finish() {
  const ProfiledRange range("finish round");
  guarded([&] {
    shared_.use();
    wait_for_kernels();
  });
  const Round& round = *std::exchange(round_, nullptr);
  count(round);
  return answers(round);
}

void GpuChannel::synchronize() { check(cudaStreamSynchronize(stream_), "running kernels"); }

/// Waits until what was published has left the memory that the next round is staged in.
void GpuChannel::wait_for_publication() {
  if (std::exchange(is_publishing_, false)) synchronize();
}

void GpuChannel::wait_for_kernels() {
  const ProfiledRange range("wait for kernels");
  if (mode_ == LaunchMode::fused) {
    fused_launches_.wait();
  } else {
    synchronize();
  }
}

/// Ends a round that was begun and that nobody waits for.
void GpuChannel::abandon_round() {
  if (std::exchange(round_, nullptr) != nullptr) wait_for_kernels();
}

void GpuChannel::wait_for_pages(std::uint64_t batch) {
  if (batch <= awaited_) return;
  shared_.fetcher.make_wait(stream_, batch);
  awaited_ = batch;
}

/// Only `stream_` waits for pages, and fused launches have streams of their own. So a round with
/// pages that it has not waited for takes separate launches.
bool GpuChannel::may_fuse(const Round& round) const {
  return fuses_ && round.fetched <= awaited_ && staged_.may_be_fused(upload_.delta().size());
}

void GpuChannel::send(const Round& round) {
  staged_.stage(round, upload_);
  const bool is_fused = may_fuse(round) && upload_.put_into(inline_upload_);
  mode_ = is_fused ? LaunchMode::fused : LaunchMode::separate;
  if (is_fused) {
    counters_.uploaded += inline_upload_.words * sizeof(std::uint64_t);
    fused_launches_.begin();
  } else {
    wait_for_pages(round.fetched);
    counters_.uploaded += upload_.send(stream_);
  }
  inline_upload_.view = view_ = staged_.view(upload_, shared_.arena.data(), shared_.page_shift);
  selected_.reserve(round.selected);
}

template <class Arguments>
void GpuChannel::launch(std::uint32_t shape, KernelKind kind, dim3 blocks, Arguments arguments,
                        const StagedKind::Zeros& zeros) {
  static_assert(sizeof(InlineUpload) + sizeof(Arguments) <= 4096);
  const ProfiledRange range(name_of(kind));
  const void* const kernel = shared_.kernels->kernel(shape, kind, mode_);
  if (mode_ == LaunchMode::fused) {
    inline_upload_.zeroed = upload_.zeros<std::uint64_t>(zeros.first);
    inline_upload_.zeros = static_cast<std::uint32_t>(zeros.last - zeros.first);
    inline_upload_.groups_done = upload_.zeros<std::uint32_t>(zeros.first);
    fused_launches_.launch(kernel, blocks, dim3(kThreads), inline_upload_, &arguments);
    return;
  }
  void* all[] = {&view_, &arguments};
  check(cudaLaunchKernel(kernel, blocks, dim3(kThreads), all, 0, stream_), "launching a kernel");
}

/// `arguments(groups, chunks, done)`: what each launch is told.
template <class Arguments>
void GpuChannel::launch_groups(const StagedKind& kind, KernelKind kernel, Arguments arguments) {
  for (const Grouping::Section& section : kind.grouping.group_sections()) {
    const Chunks chunks = chunks_of(section);
    launch(section.shape, kernel, dim3(section.count, chunks.per_group),
           arguments(upload_.array<Group>(kind.groups) + section.first, chunks,
                     upload_.zeros<std::uint32_t>(kind.done) + section.first),
           kind.grouped);
  }
}

void GpuChannel::launch_select_one(const StagedKind& selections, KernelKind kernel,
                                   const PinnedArray<std::uint32_t>& found) {
  launch_groups(selections, kernel, [&](const Group* groups, Chunks chunks, std::uint32_t* done) {
    return SelectOneArguments{.searches = upload_.array<Search>(selections.searches),
                              .groups = groups,
                              .chunks = chunks,
                              .ranks = upload_.zeros<std::uint32_t>(selections.partial),
                              .done = done,
                              .found = found.data(),
                              .selected = selected_.data()};
  });
}

void GpuChannel::launch_select_several(const StagedKind& selections, KernelKind kernel,
                                       const PinnedArray<std::uint32_t>& found) {
  for (const Grouping::Section& section : selections.grouping.row_sections()) {
    launch(section.shape, kernel, dim3(section.count),
           SelectSeveralArguments{
               .searches = upload_.array<Search>(selections.searches),
               .rows = upload_.array<std::uint32_t>(selections.rows) + section.first,
               .found = found.data(),
               .selected = selected_.data()},
           selections.alone);
  }
}

void GpuChannel::launch_select_all(const Round& round) {
  if (round.every.empty()) return;
  counts_.reserve(round.every.size());
  matches_.reserve(round.most_listed);
  const StagedKind& every = staged_.every;
  launch_groups(every, KernelKind::select_all,
                [&](const Group* groups, Chunks chunks, std::uint32_t* done) {
                  return SelectAllArguments{.searches = upload_.array<Search>(every.searches),
                                            .groups = groups,
                                            .chunks = chunks,
                                            .total = upload_.zeros<unsigned long long>(every.total),
                                            .counts = upload_.zeros<std::uint32_t>(every.partial),
                                            .done = done,
                                            .most = round.most_listed,
                                            .counts_on_host = counts_.data(),
                                            .matches = matches_.data()};
                });
}

template <class Total>
void GpuChannel::launch_reductions(const StagedKind& kind, KernelKind which,
                                   PinnedArray<Total>& totals) {
  totals.reserve(kind.count);
  launch_groups(kind, which, [&](const Group* groups, Chunks chunks, std::uint32_t* done) {
    return ReduceArguments<Total>{.searches = upload_.array<Search>(kind.searches),
                                  .groups = groups,
                                  .chunks = chunks,
                                  .done = done,
                                  .totals = upload_.zeros<Total>(kind.partial),
                                  .totals_on_host = totals.data()};
  });
}

Answers GpuChannel::answers(const Round& round) {
  const bool listed_all = sort_matches(round);
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
bool GpuChannel::sort_matches(const Round& round) {
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

}  // namespace gorgo::gpu
