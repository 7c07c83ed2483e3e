#include <algorithm>
#include <cassert>
#include <cstring>

#include "cuda/kernels.cuh"
#include "cuda/memory.cuh"

namespace gorgo::cuda {
namespace {

/// Parts of a search at most; see `begin_parts`.
constexpr std::uint32_t kMostParts = kThreads;
/// What is waiting to be uploaded is uploaded before it is more, in words.
constexpr std::size_t kMostDelta = std::size_t{1} << 21;

/// One GPU. A round is one upload, kernels in one stream, and a wait for that stream; answers are
/// written to memory of the host by the kernels themselves.
class GpuDevice final : public Device {
 public:
  explicit GpuDevice(const ArenaOptions& options) : page_shift_(options.page_shift) {
    check(cudaSetDevice(0), "taking the GPU into use");
    check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "making a stream");
    pages_ = static_cast<std::uint32_t>((options.bytes / sizeof(std::uint64_t)) >> page_shift_);
    written_.resize(pages_);
    check(cudaMalloc(&arena_, std::size_t{pages_} << page_shift_ << 3), "allocating the arena");
  }
  ~GpuDevice() override {
    cudaFree(arena_);
    cudaStreamDestroy(stream_);
  }
  GpuDevice(const GpuDevice&) = delete;
  GpuDevice& operator=(const GpuDevice&) = delete;

  std::uint32_t page_shift() const override { return page_shift_; }
  std::uint32_t pages() const override { return pages_; }

  void write(std::uint32_t page, std::uint32_t offset,
             std::span<const std::uint64_t> words) override {
    assert(page < pages_ && offset + words.size() <= std::size_t{1} << page_shift_);
    // `scatter` writes all of a delta at once, in any order: no word may stand in it twice.
    const bool again = written_[page].delta == delta_number_ && offset < written_[page].end;
    if (again || delta_ + words.size() > kMostDelta) flush_delta();
    try {
      staging_.reserve(delta_ + words.size(), delta_);
    } catch (const DeviceError&) {
      forget_delta();
      throw;
    }
    std::memcpy(staging_.data() + delta_, words.data(), words.size_bytes());
    runs_.push_back({.to = (std::uint64_t{page} << page_shift_) + offset,
                     .from = delta_,
                     .count = words.size()});
    delta_ += words.size();
    written_[page] = {delta_number_, static_cast<std::uint32_t>(offset + words.size())};
  }

  Answers run(const Round& round) override {
    try {
      use();
      const View view = upload(round);
      launch_selections(view, round);
      launch_lists(view, round);
      launch_reductions(view, round);
      check(cudaGetLastError(), "launching kernels");
      wait();
    } catch (const DeviceError&) {
      forget_delta();
      throw;
    }
    ++counters_.rounds;
    counters_.searches += round.oldest.size() + round.newest.size() + round.every.size() +
                          round.reductions.size();
    return answers(round);
  }

 private:
  void use() { check(cudaSetDevice(0), "taking the GPU into use"); }
  void wait() { check(cudaStreamSynchronize(stream_), "running kernels"); }

  void forget_delta() {
    delta_ = 0;
    ++delta_number_;
    runs_.clear();
  }

  void flush_delta() {
    try {
      use();
      upload_delta(0);
      wait();
    } catch (const DeviceError&) {
      forget_delta();
      throw;
    }
  }

  /// Room for an array behind what is staged; returns its first word.
  template <class T>
  std::size_t stage(const std::vector<T>& items, std::size_t& end) {
    const std::size_t first = end;
    const std::size_t words = (items.size() * sizeof(T) + 7) / 8;
    // Parts begin at multiples of 16 bytes.
    end += (words + 1) / 2 * 2;
    staging_.reserve(end, first);
    if (!items.empty()) std::memcpy(staging_.data() + first, items.data(), items.size() * sizeof(T));
    return first;
  }

  template <class T>
  const T* on_device(std::size_t word) const {
    return reinterpret_cast<const T*>(upload_.data() + word);
  }

  /// Uploads the words from the first staged one on, and has the delta written into the arena.
  void upload_delta(std::size_t end) {
    std::size_t words = std::max(end, (delta_ + 1) / 2 * 2);
    const std::size_t runs = stage(runs_, words);
    upload_.reserve(words);
    check(cudaMemcpyAsync(upload_.data(), staging_.data(), words * sizeof(std::uint64_t),
                          cudaMemcpyHostToDevice, stream_),
          "uploading");
    counters_.uploaded += words * sizeof(std::uint64_t);
    if (!runs_.empty()) {
      scatter<<<static_cast<unsigned>(runs_.size()), kThreads, 0, stream_>>>(
          arena_, on_device<std::uint64_t>(0), on_device<Run>(runs));
    }
    forget_delta();
  }

  View upload(const Round& round) {
    group(round.every);
    std::size_t end = (delta_ + 1) / 2 * 2;
    const std::size_t pages = stage(round.pages, end);
    const std::size_t attributes = stage(round.attributes, end);
    const std::size_t tests = stage(round.tests, end);
    const std::size_t instructions = stage(round.instructions, end);
    const std::size_t scans = stage(round.scans, end);
    const std::size_t bounds = stage(round.bounds, end);
    const std::size_t cells = stage(round.cells, end);
    oldest_at_ = stage(round.oldest, end);
    newest_at_ = stage(round.newest, end);
    every_at_ = stage(round.every, end);
    groups_at_ = stage(groups_, end);
    bases_at_ = stage(bases_, end);
    reductions_at_ = stage(round.reductions, end);
    upload_delta(end);
    return {.arena = arena_,
            .page_shift = page_shift_,
            .pages = on_device<std::uint32_t>(pages),
            .attributes = on_device<Attribute>(attributes),
            .tests = on_device<Test>(tests),
            .instructions = on_device<Instruction>(instructions),
            .scans = on_device<Scan>(scans),
            .bounds = on_device<Bounds>(bounds),
            .cells = on_device<Cell>(cells)};
  }

  void launch_selections(const View& view, const Round& round) {
    selected_.reserve(round.selected);
    oldest_.reserve(round.oldest.size());
    newest_.reserve(round.newest.size());
    if (!round.oldest.empty()) {
      select<false><<<static_cast<unsigned>(round.oldest.size()), kThreads, 0, stream_>>>(
          view, on_device<Search>(oldest_at_), oldest_.data(), selected_.data());
    }
    if (!round.newest.empty()) {
      select<true><<<static_cast<unsigned>(round.newest.size()), kThreads, 0, stream_>>>(
          view, on_device<Search>(newest_at_), newest_.data(), selected_.data());
    }
  }

  /// Cuts the longest range into parts of at least so many positions.
  static Parts parts_of(std::uint64_t longest, std::uint64_t least) {
    const std::uint64_t wanted = std::max(least, (longest + kMostParts - 1) / kMostParts);
    const std::uint64_t size = (wanted + kTile - 1) / kTile * kTile;
    return {.size = size, .each = static_cast<std::uint32_t>((longest + size - 1) / size)};
  }

  /// Puts searches that stand side by side into groups: as large as leaves enough blocks for all
  /// multiprocessors.
  void group(const std::vector<Search>& searches) {
    constexpr std::uint64_t kBlocks = 2048;
    groups_.clear();
    bases_.clear();
    std::uint64_t tiles = 0;
    for (const Search& search : searches) tiles += (search.last - search.first) / kTile + 1;
    const auto most = static_cast<std::uint32_t>(
        std::clamp<std::uint64_t>(tiles / kBlocks, 1, kMostGrouped));
    for (std::uint32_t i = 0; i < searches.size(); ++i) {
      const Search& search = searches[i];
      if (groups_.empty() || !joins(groups_.back(), searches, search, most)) {
        groups_.push_back({.base = search.first, .end = search.last, .first = i, .count = 0});
      }
      Group& group = groups_.back();
      group.base = std::min(group.base, search.first);
      group.end = std::max(group.end, search.last);
      ++group.count;
    }
    for (const Group& group : groups_) bases_.insert(bases_.end(), group.count, group.base);
  }

  /// Whether a group has room for the search, which then reads few positions in vain.
  static bool joins(const Group& group, const std::vector<Search>& searches, const Search& search,
                    std::uint32_t most) {
    if (group.count >= most || searches[group.first].scan != search.scan) return false;
    const std::uint64_t together =
        std::max(group.end, search.last) - std::min(group.base, search.first);
    const std::uint64_t shorter = std::min(search.last - search.first, group.end - group.base);
    return together <= shorter + shorter / 4 + kTile / 2;
  }

  void launch_lists(const View& view, const Round& round) {
    const auto searches = static_cast<std::uint32_t>(round.every.size());
    begins_.reserve(searches + 1);
    begins_.data()[searches] = 0;
    if (searches == 0) return;
    std::uint64_t longest = 1;
    for (const Group& group : groups_) longest = std::max(longest, group.end - group.base);
    const Parts parts = parts_of(longest, kTile);
    part_counts_.reserve(std::size_t{searches} * parts.each);
    totals_.reserve(searches);
    device_begins_.reserve(searches + 1);
    listed_.reserve(round.most_listed);
    const auto* on = on_device<Search>(every_at_);
    for_each_slice(static_cast<std::uint32_t>(groups_.size()),
                   [&](std::uint32_t first, std::uint32_t size) {
                     count<<<dim3(parts.each, size), kThreads, 0, stream_>>>(
                         view, on, on_device<Group>(groups_at_) + first, parts,
                         part_counts_.data());
                   });
    begin_parts<<<searches, kThreads, 0, stream_>>>(parts, part_counts_.data(), totals_.data());
    begin_lists<<<1, kThreads, 0, stream_>>>(totals_.data(), searches, device_begins_.data(),
                                             begins_.data());
    for_each_slice(searches, [&](std::uint32_t first, std::uint32_t size) {
      fill<<<dim3(parts.each, size), kThreads, 0, stream_>>>(
          view, on + first, on_device<std::uint64_t>(bases_at_) + first, parts,
          part_counts_.data() + std::size_t{first} * parts.each, device_begins_.data() + first, searches - first, round.most_listed, listed_.data());
    });
  }

  void launch_reductions(const View& view, const Round& round) {
    if (round.reductions.empty()) return;
    const auto searches = static_cast<std::uint32_t>(round.reductions.size());
    std::uint64_t longest = 1;
    for (const Search& search : round.reductions) {
      longest = std::max(longest, search.last - search.first);
    }
    reduced_parts_ = parts_of(longest, 2 * kTile);
    partial_.reserve(std::size_t{searches} * reduced_parts_.each);
    const auto* on = on_device<Search>(reductions_at_);
    for_each_slice(searches, [&](std::uint32_t first, std::uint32_t size) {
      reduce<<<dim3(reduced_parts_.each, size), kThreads, 0, stream_>>>(
          view, on + first, reduced_parts_,
          partial_.data() + std::size_t{first} * reduced_parts_.each);
    });
  }

  /// A grid has at most 65535 rows.
  template <class F>
  static void for_each_slice(std::uint32_t searches, F f) {
    constexpr std::uint32_t kRows = 65535;
    for (std::uint32_t first = 0; first < searches; first += kRows) {
      f(first, std::min(kRows, searches - first));
    }
  }

  Answers answers(const Round& round) {
    reductions_.assign(round.reductions.size(), {});
    for (std::size_t i = 0; i < reductions_.size(); ++i) {
      const bool floats = round.scans[round.reductions[i].scan].reduced_floats;
      for (std::uint32_t part = 0; part < reduced_parts_.each; ++part) {
        merge(reductions_[i], floats, partial_.data()[i * reduced_parts_.each + part]);
      }
    }
    const std::uint64_t listed = begins_.data()[round.every.size()];
    const bool listed_all = listed <= round.most_listed;
    return {.oldest = {oldest_.data(), round.oldest.size()},
            .newest = {newest_.data(), round.newest.size()},
            .selected = {selected_.data(), round.selected},
            .every = {begins_.data(), round.every.size() + 1},
            .listed = {listed_.data(), listed_all ? listed : 0},
            .listed_all = listed_all,
            .reductions = reductions_};
  }

  const std::uint32_t page_shift_;
  std::uint32_t pages_ = 0;
  cudaStream_t stream_ = nullptr;
  std::uint64_t* arena_ = nullptr;

  // What is uploaded: the delta, then the round.
  PinnedArray<std::uint64_t> staging_;
  DeviceArray<std::uint64_t> upload_;
  std::size_t delta_ = 0;
  std::vector<Run> runs_;
  /// By page: up to where it was written, and in which delta. Within a delta, upwards.
  struct Written {
    std::uint64_t delta = 0;
    std::uint32_t end = 0;
  };
  std::vector<Written> written_;
  std::uint64_t delta_number_ = 1;
  std::size_t oldest_at_ = 0, newest_at_ = 0, every_at_ = 0, reductions_at_ = 0;
  std::size_t groups_at_ = 0, bases_at_ = 0;
  std::vector<Group> groups_;         // of the searches for every position
  std::vector<std::uint64_t> bases_;  // where the parts of each of them begin

  DeviceArray<std::uint32_t> part_counts_;
  DeviceArray<std::uint64_t> totals_, device_begins_;
  Parts reduced_parts_{};

  PinnedArray<std::uint32_t> oldest_, newest_, selected_, listed_;
  PinnedArray<std::uint64_t> begins_;
  PinnedArray<Reduction> partial_;
  std::vector<Reduction> reductions_;
};

int version_of(cudaError_t (*ask)(int*)) {
  int version = 0;
  return ask(&version) == cudaSuccess ? version : 0;
}

}  // namespace

std::vector<GpuInfo> describe_gpus() {
  const int driver = version_of(cudaDriverGetVersion);
  const int runtime = version_of(cudaRuntimeGetVersion);
  int count = 0;
  const cudaError_t error = cudaGetDeviceCount(&count);
  if (error != cudaSuccess || count == 0) {
    cudaGetLastError();
    const std::string why = driver == 0 ? "this machine has no CUDA driver"
                            : error == cudaSuccess ? "this machine has no GPU"
                                                   : cudaGetErrorString(error);
    return {{.unavailable = why, .driver = driver, .runtime = runtime}};
  }
  std::vector<GpuInfo> gpus;
  for (int i = 0; i < count; ++i) {
    cudaDeviceProp properties{};
    if (cudaGetDeviceProperties(&properties, i) != cudaSuccess) continue;
    gpus.push_back({.name = properties.name,
                    .memory = properties.totalGlobalMem,
                    .multiprocessors = properties.multiProcessorCount,
                    .capability = properties.major * 10 + properties.minor,
                    .driver = driver,
                    .runtime = runtime});
  }
  return gpus;
}

std::unique_ptr<Device> open_gpu(const ArenaOptions& options) {
  if (const auto gpus = describe_gpus(); gpus.empty() || gpus.front().name.empty()) {
    throw DeviceError(gpus.empty() ? "the GPU does not answer" : gpus.front().unavailable, true);
  }
  return std::make_unique<GpuDevice>(options);
}

}  // namespace gorgo::cuda
