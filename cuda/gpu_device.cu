#include <algorithm>
#include <map>
#include <mutex>

#include "cuda/copies.cuh"
#include "cuda/grouping.hpp"
#include "cuda/shape_cache.cuh"
#include "cuda/upload.cuh"

namespace gorgo::cuda {
namespace {

/// GPUs of a kind have their shapes compiled once.
std::shared_ptr<ShapeCache> shared_shapes(int capability, Compile compile) {
  static std::mutex mutex;
  static std::map<std::pair<int, Compile>, std::weak_ptr<ShapeCache>> known;
  const std::lock_guard lock(mutex);
  auto& shared = known[{capability, compile}];
  auto shapes = shared.lock();
  if (!shapes) shared = shapes = std::make_shared<ShapeCache>(capability, compile);
  return shapes;
}

/// One GPU. A round is one upload, kernels in one stream, and a wait for that stream; answers are
/// written to memory of the host by the kernels themselves.
class GpuDevice final : public Device {
 public:
  GpuDevice(std::uint32_t index, int capability, const DeviceOptions& options)
      : index_(static_cast<int>(index)),
        page_shift_(options.page_shift),
        pages_(static_cast<std::uint32_t>((options.bytes / sizeof(std::uint64_t)) >> page_shift_)),
        shapes_(shared_shapes(capability, options.compile)) {
    use();
    arena_.reserve_exactly(std::size_t{pages_} << page_shift_);
    check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "making a stream");
    upload_ = std::make_unique<Upload>(arena_.data(), page_shift_, pages_);
    copies_.open();
  }
  ~GpuDevice() override {
    cudaSetDevice(index_);
    cudaStreamDestroy(stream_);
  }
  GpuDevice(const GpuDevice&) = delete;
  GpuDevice& operator=(const GpuDevice&) = delete;

  std::uint32_t number() const override { return static_cast<std::uint32_t>(index_); }
  std::uint32_t page_shift() const override { return page_shift_; }
  std::uint32_t pages() const override { return pages_; }
  std::uint32_t add_shape(const std::string& text, std::uint32_t meanwhile) override {
    return shapes_->number(text, meanwhile);
  }
  ShapeCounters shapes() const override { return shapes_->counters(); }

  void write(std::uint32_t page, std::uint32_t offset,
             std::span<const std::uint64_t> words) override {
    guarded([&] {
      use();
      if (upload_->delta().is_full(page, offset, words.size())) flush();
      upload_->write(page, offset, words);
    });
  }

  std::uint64_t* pin(std::size_t words) override {
    use();
    pinned_.emplace_back(std::make_unique<PinnedArray<std::uint64_t>>())->reserve(words);
    return pinned_.back()->data();
  }

  std::uint64_t fetch(std::span<const Fetch> pages) override {
    guarded([&] {
      use();
      const bool again = std::any_of(pages.begin(), pages.end(), [&](const Fetch& page) {
        return upload_->delta().writes(page.page);
      });
      if (again) flush();
      copies_.start(pages, arena_.data(), page_shift_);
    });
    counters_.fetched += (pages.size() * sizeof(std::uint64_t)) << page_shift_;
    return ++counters_.fetches;
  }

  void start(const Round& round) override {
    guarded([&] {
      use();
      if (round_ != nullptr) wait();  // one that was given up
      round_ = &round;
      copies_.let_wait(stream_, round.fetched);
      upload(round);
      launch_picks<false>(round.oldest, oldest_);
      launch_picks<true>(round.newest, newest_);
      launch_lists(round);
      launch_reductions(reductions_, KernelKind::reduce, reduced_);
      launch_reductions(sums_, KernelKind::sum, summed_);
      check(cudaGetLastError(), "launching kernels");
    });
  }

  Answers finish() override {
    guarded([&] {
      use();
      wait();
    });
    const Round& round = *std::exchange(round_, nullptr);
    ++counters_.rounds;
    counters_.searches += round.oldest.size() + round.newest.size() + round.every.size() +
                          round.reductions.size() + round.sums.size();
    return answers(round);
  }

 private:
  /// Searches of a kind: how they are grouped, and where what the kernels need stands in the
  /// upload.
  struct Kind {
    Grouping grouping;
    std::size_t count = 0;
    std::size_t searches = 0, groups = 0, rows = 0;
    std::size_t done = 0, partial = 0;  // zeros
  };
  struct Picks : Kind {
    PinnedArray<std::uint32_t> found;
  };

  template <class F>
  void guarded(F f) {
    try {
      f();
    } catch (const DeviceError&) {
      upload_->forget();
      throw;
    }
  }

  /// For the calling thread.
  void use() { check(cudaSetDevice(index_), "taking a GPU into use"); }
  /// Writes what is staged.
  void flush() {
    copies_.let_wait(stream_, counters_.fetches);
    upload_->begin();
    counters_.uploaded += upload_->send(stream_);
    wait();
  }

  void wait() { check(cudaStreamSynchronize(stream_), "running kernels"); }

  template <class Partial, class Alone>
  void add(Kind& kind, const std::vector<Search>& searches, const Round& round, Alone alone) {
    kind.grouping.assign(searches, round.scans, alone);
    kind.count = searches.size();
    kind.searches = upload_->add(searches);
    kind.groups = upload_->add(kind.grouping.groups());
    kind.rows = upload_->add(kind.grouping.rows());
    kind.done = upload_->add_zeros<std::uint32_t>(kind.grouping.groups().size());
    kind.partial = upload_->add_zeros<Partial>(searches.size());
  }

  void upload(const Round& round) {
    upload_->begin();
    const std::size_t pages = upload_->add(round.pages);
    const std::size_t attributes = upload_->add(round.attributes);
    const std::size_t tests = upload_->add(round.tests);
    const std::size_t instructions = upload_->add(round.instructions);
    const std::size_t scans = upload_->add(round.scans);
    const std::size_t bounds = upload_->add(round.bounds);
    const std::size_t cells = upload_->add(round.cells);
    const std::size_t texts = upload_->add(round.texts);
    const std::size_t unless = upload_->add(round.unless);
    const auto several = [](const Search& search) { return search.limit > 1; };
    const auto never = [](const Search&) { return false; };
    add<std::uint32_t>(oldest_, round.oldest, round, several);
    add<std::uint32_t>(newest_, round.newest, round, several);
    add<std::uint32_t>(every_, round.every, round, never);
    add<Reduction>(reductions_, round.reductions, round, never);
    add<FloatSum>(sums_, round.sums, round, never);
    total_ = upload_->add_zeros<std::uint64_t>(1);
    counters_.uploaded += upload_->send(stream_);
    view_ = {.arena = arena_.data(),
             .page_shift = page_shift_,
             .pages = upload_->array<std::uint32_t>(pages),
             .attributes = upload_->array<Attribute>(attributes),
             .tests = upload_->array<Test>(tests),
             .instructions = upload_->array<Instruction>(instructions),
             .scans = upload_->array<Scan>(scans),
             .bounds = upload_->array<Bounds>(bounds),
             .cells = upload_->array<Cell>(cells),
             .texts = upload_->array<std::uint64_t>(texts),
             .unless = upload_->array<Unless>(unless)};
    selected_.reserve(round.selected);
  }

  template <class... Args>
  void launch(const void* kernel, dim3 blocks, Args... args) {
    void* arguments[] = {&args...};
    check(cudaLaunchKernel(kernel, blocks, dim3(kThreads), arguments, 0, stream_),
          "launching a kernel");
  }

  /// Enough parts to keep the device busy together with other groups.
  static Parts parts_of(const Grouping::Section& section) {
    constexpr std::uint64_t kBlocks = 8192;
    const std::uint64_t tiles = (section.longest + kTile - 1) / kTile;
    const std::uint64_t wanted = std::clamp<std::uint64_t>(kBlocks / section.count, 1, tiles);
    const std::uint64_t size = (tiles + wanted - 1) / wanted * kTile;
    return {.size = size,
            .each = static_cast<std::uint32_t>((section.longest + size - 1) / size)};
  }

  template <class F>
  void for_each_section(const Kind& kind, KernelKind kernel, F f) {
    for (const Grouping::Section& section : kind.grouping.group_sections()) {
      const Parts parts = parts_of(section);
      f(shapes_->kernel(section.shape, kernel), dim3(section.count, parts.each),
        upload_->array<Group>(kind.groups) + section.first, parts,
        upload_->zeros<std::uint32_t>(kind.done) + section.first);
    }
  }

  template <bool kNewest>
  void launch_picks(const std::vector<Search>& searches, Picks& picks) {
    picks.found.reserve(searches.size());
    const auto* on = upload_->array<Search>(picks.searches);
    const auto kind = kNewest ? KernelKind::pick_newest : KernelKind::pick_oldest;
    for_each_section(picks, kind, [&](const void* kernel, dim3 blocks, const Group* groups,
                                      Parts parts, std::uint32_t* done) {
      const Picked picked{.ranks = upload_->zeros<std::uint32_t>(picks.partial), .done = done};
      launch(kernel, blocks, view_, on, groups, parts,
             picked, picks.found.data(), selected_.data());
    });
    for (const Grouping::Section& section : picks.grouping.row_sections()) {
      const auto several = kNewest ? KernelKind::select_newest : KernelKind::select_oldest;
      launch(shapes_->kernel(section.shape, several), dim3(section.count), view_, on,
             upload_->array<std::uint32_t>(picks.rows) + section.first, picks.found.data(),
             selected_.data());
    }
  }

  void launch_lists(const Round& round) {
    if (round.every.empty()) return;
    counts_.reserve(round.every.size());
    matches_.reserve(round.most_listed);
    const auto* on = upload_->array<Search>(every_.searches);
    for_each_section(every_, KernelKind::list, [&](const void* kernel, dim3 blocks,
                                                   const Group* groups, Parts parts,
                                                   std::uint32_t* done) {
      const Listed listed{.counts = upload_->zeros<std::uint32_t>(every_.partial),
                          .total = upload_->zeros<unsigned long long>(total_),
                          .done = done};
      launch(kernel, blocks, view_, on, groups, parts, listed, round.most_listed,
             counts_.data(), matches_.data());
    });
  }

  template <class Total>
  void launch_reductions(const Kind& kind, KernelKind which, PinnedArray<Total>& totals) {
    totals.reserve(kind.count);
    const auto* on = upload_->array<Search>(kind.searches);
    for_each_section(kind, which, [&](const void* kernel, dim3 blocks, const Group* groups,
                                      Parts parts, std::uint32_t* done) {
      launch(kernel, blocks, view_, on, groups, parts, done, upload_->zeros<Total>(kind.partial),
             totals.data());
    });
  }

  Answers answers(const Round& round) {
    const bool listed_all = put_in_order(round);
    return {.oldest = {oldest_.found.data(), round.oldest.size()},
            .newest = {newest_.found.data(), round.newest.size()},
            .selected = {selected_.data(), round.selected},
            .every = begins_,
            .listed = listed_,
            .listed_all = listed_all,
            .reductions = {reduced_.data(), round.reductions.size()},
            .sums = {summed_.data(), round.sums.size()}};
  }

  /// Matches come as they are found. False: there are too many to have come all.
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

  const int index_;
  const std::uint32_t page_shift_;
  const std::uint32_t pages_;
  const std::shared_ptr<ShapeCache> shapes_;
  cudaStream_t stream_ = nullptr;
  DeviceArray<std::uint64_t> arena_;
  std::unique_ptr<Upload> upload_;
  Copies copies_;
  std::vector<std::unique_ptr<PinnedArray<std::uint64_t>>> pinned_;

  // Of the round.
  const Round* round_ = nullptr;
  View view_;
  Picks oldest_, newest_;
  Kind every_, reductions_, sums_;
  std::size_t total_ = 0;
  PinnedArray<std::uint32_t> selected_, counts_;
  PinnedArray<Match> matches_;
  PinnedArray<Reduction> reduced_;
  PinnedArray<FloatSum> summed_;
  std::vector<std::uint64_t> begins_, next_;
  std::vector<std::uint32_t> listed_;
};

}  // namespace

std::unique_ptr<Device> open_gpu(std::uint32_t index, const DeviceOptions& options) {
  const auto gpus = describe_gpus();
  if (index >= gpus.size()) {
    throw DeviceError("this machine has no GPU " + std::to_string(index) + "; the last is " +
                          std::to_string(gpus.size() - 1),
                      true);
  }
  if (gpus[index].name.empty()) throw DeviceError(gpus[index].unavailable, true);
  return std::make_unique<GpuDevice>(index, gpus[index].capability, options);
}

}  // namespace gorgo::cuda
