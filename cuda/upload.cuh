#pragma once

#include <span>
#include <vector>

#include "cuda/delta.hpp"
#include "cuda/kernels.cuh"
#include "cuda/memory.cuh"

namespace gorgo::gpu {

/// What `prepare` is told, which comes before the searches of a round.
struct Preparation {
  const std::uint64_t* staged;  ///< the delta, then the round
  const Run* runs;              ///< of the delta, none of which overlap
  std::uint32_t run_count;
  std::uint64_t* arena;
  std::uint64_t* upload;       ///< where the round goes; `staged` when it is there already
  std::uint64_t first, count;  ///< words of it
  std::uint64_t* zeroed;
  std::uint64_t zeros;  ///< words
};

/// Takes a block for each run, and any number of further ones for the rest.
static __global__ void prepare(const __grid_constant__ Preparation p) {
  if (blockIdx.x < p.run_count) {
    const Run run = p.runs[blockIdx.x];
    for (std::uint64_t i = threadIdx.x; i < run.count; i += kThreads) {
      p.arena[run.to + i] = p.staged[run.from + i];
    }
    return;
  }
  const std::uint64_t stride = std::uint64_t{gridDim.x - p.run_count} * kThreads;
  const std::uint64_t mine = std::uint64_t{blockIdx.x - p.run_count} * kThreads + threadIdx.x;
  for (std::uint64_t i = mine; i < p.zeros; i += stride) p.zeroed[i] = 0;
  if (p.upload == p.staged) return;
  for (std::uint64_t i = mine; i < p.count; i += stride) {
    p.upload[p.first + i] = p.staged[p.first + i];
  }
}

/// What goes to a GPU: words for the arena, written at any time, and the arrays of a round. Both
/// are staged in memory of the host that the device reads, and sent together.
class Upload {
 public:
  /// `arena`: of so many pages of 2^page_shift words.
  Upload(std::uint64_t* arena, std::uint32_t page_shift, std::uint32_t pages)
      : arena_(arena), delta_(page_shift, pages) {
    clean_.reserve_exactly(kClean);
    check(cudaMemset(clean_.data(), 0, kClean * sizeof(std::uint64_t)), "clearing memory");
    check(cudaDeviceSynchronize(), "clearing memory");
  }

  const Delta& delta() const { return delta_; }
  /// Precondition: the delta is not full. Throws DeviceError.
  void write(std::uint32_t page, std::uint32_t offset, std::span<const std::uint64_t> words) {
    staging_.reserve(delta_.size() + words.size(), delta_.size());
    std::memcpy(staging_.data() + delta_.size(), words.data(), words.size_bytes());
    delta_.add(page, offset, words.size());
  }

  /// Begins the arrays of a round.
  void begin() {
    first_ = end_ = even(delta_.size());
    zeros_ = 0;
  }
  /// Takes an array in; returns its first word.
  template <class T>
  std::size_t add(std::span<const T> items) {
    const std::size_t first = end_;
    // Arrays begin at multiples of 16 bytes.
    end_ += even(words_of<T>(items.size()));
    staging_.reserve(end_, first);
    if (!items.empty()) std::memcpy(staging_.data() + first, items.data(), items.size_bytes());
    return first;
  }
  template <class T>
  std::size_t add(const std::vector<T>& items) {
    return add(std::span<const T>(items));
  }
  /// Takes in an array of so many zeros, which stands apart from the others; returns its first word
  /// there.
  template <class T>
  std::size_t add_zeros(std::size_t count) {
    const std::size_t first = zeros_;
    zeros_ += even(words_of<T>(count));
    return first;
  }

  /// Sends all of it; the arrays stay until the next `send`. Returns the number of bytes. Throws
  /// DeviceError.
  std::size_t send(cudaStream_t stream) {
    const std::size_t runs = add(delta_.runs());
    upload_.reserve(end_);
    zeroed_.reserve(zeros_);
    along_ = false;
    const bool is_small = end_ * sizeof(std::uint64_t) <= kSmall;
    if (!is_small) {
      check(cudaMemcpyAsync(upload_.data(), staging_.data(), end_ * sizeof(std::uint64_t),
                            cudaMemcpyHostToDevice, stream),
            "uploading");
    }
    const std::uint64_t* staged = is_small ? staging_.data() : upload_.data();
    const Preparation preparation{.staged = staged,
                                  .runs = reinterpret_cast<const Run*>(staged + runs),
                                  .run_count = static_cast<std::uint32_t>(delta_.runs().size()),
                                  .arena = arena_,
                                  .upload = upload_.data(),
                                  .first = first_,
                                  .count = runs - first_,
                                  .zeroed = zeroed_.data(),
                                  .zeros = zeros_};
    const std::size_t rest = zeros_ + (is_small ? runs - first_ : 0);
    const auto blocks =
        delta_.runs().size() + std::min<std::size_t>(kMostBlocks, (rest + 1023) / 1024);
    if (blocks > 0) prepare<<<static_cast<unsigned>(blocks), kThreads, 0, stream>>>(preparation);
    forget();
    return end_ * sizeof(std::uint64_t);
  }

  /// Takes the place of `send`: puts all of it where launches take it along. Returns false when it
  /// is too much for that.
  bool put_into(Parcel& parcel) {
    const auto& runs = delta_.runs();
    const std::size_t own = end_ - first_, of_runs = words_of<Run>(runs.size());
    const std::size_t words = own + of_runs + delta_.size();
    if (words > Parcel::kMost || zeros_ > kClean) return false;
    along_ = true;
    upload_.reserve(end_);
    std::memcpy(parcel.data, staging_.data() + first_, own * sizeof(std::uint64_t));
    auto* const to = reinterpret_cast<Run*>(parcel.data + own);
    for (std::size_t i = 0; i < runs.size(); ++i) {
      to[i] = runs[i];
      to[i].from += own + of_runs;
    }
    std::memcpy(parcel.data + own + of_runs, staging_.data(),
                delta_.size() * sizeof(std::uint64_t));
    parcel.base = upload_.data() + first_;
    parcel.arena = arena_;
    parcel.words = static_cast<std::uint32_t>(words);
    parcel.first_run = static_cast<std::uint32_t>(own);
    parcel.runs = static_cast<std::uint32_t>(runs.size());
    forget();
    return true;
  }

  /// Forgets what was written: it has been sent, or was lost in a failure.
  void forget() { delta_.clear(); }

  template <class T>
  const T* array(std::size_t word) const {
    return reinterpret_cast<const T*>(upload_.data() + word);
  }
  template <class T>
  T* zeros(std::size_t word) const {
    return reinterpret_cast<T*>((along_ ? clean_ : zeroed_).data() + word);
  }

 private:
  /// So many bytes are read by a kernel in less time than a copy takes to begin.
  static constexpr std::size_t kSmall = std::size_t{1} << 16;
  static constexpr std::size_t kMostBlocks = 256;
  /// Words of zeros for launches that leave zeros behind.
  static constexpr std::size_t kClean = std::size_t{1} << 12;

  static std::size_t even(std::size_t words) { return (words + 1) / 2 * 2; }
  template <class T>
  static std::size_t words_of(std::size_t count) {
    return (count * sizeof(T) + 7) / 8;
  }

  std::uint64_t* const arena_;
  Delta delta_;
  PinnedArray<std::uint64_t> staging_;
  DeviceArray<std::uint64_t> upload_, zeroed_, clean_;
  bool along_ = false;               // launches have the round with them
  std::size_t first_ = 0, end_ = 0;  // of the round's arrays
  std::size_t zeros_ = 0;
};

}  // namespace gorgo::gpu
