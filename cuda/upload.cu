#include "cuda/upload.hpp"

#include <algorithm>

#include "cuda/launch_arguments.hpp"
#include "cuda/profiling.hpp"

namespace gorgo::gpu {
namespace {

/// So many bytes are read by a kernel in less time than a copy takes to begin.
constexpr std::size_t kSmall = std::size_t{1} << 16;
constexpr std::size_t kMostBlocks = 256;
/// Words of zeros for fused launches.
constexpr std::size_t kClean = std::size_t{1} << 12;

struct PrepareArguments {
  const std::uint64_t* staged;  ///< the delta, then the round
  const ArenaWrite* writes;     ///< of the delta, none of which overlap
  std::uint32_t write_count;
  std::uint64_t* arena;
  std::uint64_t* upload;       ///< where the round goes; `staged` when it is there already
  std::uint64_t first, count;  ///< words of it
  std::uint64_t* zeroed;
  std::uint64_t zeros;  ///< words
};

/// Comes before the separate launches of a round. Takes a block for each write, and any number of
/// further ones for the rest.
__global__ void prepare(const __grid_constant__ PrepareArguments p) {
  if (blockIdx.x < p.write_count) {
    const ArenaWrite write = p.writes[blockIdx.x];
    for (std::uint64_t i = threadIdx.x; i < write.count; i += kThreads) {
      p.arena[write.to + i] = p.staged[write.from + i];
    }
    return;
  }
  const std::uint64_t stride = std::uint64_t{gridDim.x - p.write_count} * kThreads;
  const std::uint64_t mine = std::uint64_t{blockIdx.x - p.write_count} * kThreads + threadIdx.x;
  for (std::uint64_t i = mine; i < p.zeros; i += stride) p.zeroed[i] = 0;
  if (p.upload == p.staged) return;
  for (std::uint64_t i = mine; i < p.count; i += stride) {
    p.upload[p.first + i] = p.staged[p.first + i];
  }
}

}  // namespace

Upload::Upload(std::uint64_t* arena, std::uint32_t page_shift, std::uint32_t pages)
    : arena_(arena), delta_(page_shift, pages) {
  clean_.reserve_exactly(kClean);
  check(cudaMemset(clean_.data(), 0, kClean * sizeof(std::uint64_t)), "clearing memory");
  check(cudaDeviceSynchronize(), "clearing memory");
}

void Upload::write(std::uint32_t page, std::uint32_t offset, std::span<const std::uint64_t> words) {
  staging_.reserve(delta_.size() + words.size(), delta_.size());
  std::memcpy(staging_.data() + delta_.size(), words.data(), words.size_bytes());
  delta_.add(page, offset, words.size());
}

void Upload::begin() {
  first_ = end_ = even(delta_.size());
  zeros_ = 0;
}

std::size_t Upload::send(cudaStream_t stream) {
  const std::size_t writes = add(delta_.writes());
  upload_.reserve(end_);
  zeroed_.reserve(zeros_);
  is_inline_ = false;
  const bool is_small = end_ * sizeof(std::uint64_t) <= kSmall;
  if (!is_small) {
    check(cudaMemcpyAsync(upload_.data(), staging_.data(), end_ * sizeof(std::uint64_t),
                          cudaMemcpyHostToDevice, stream),
          "uploading");
  }
  const std::uint64_t* staged = is_small ? staging_.data() : upload_.data();
  const PrepareArguments arguments{
      .staged = staged,
      .writes = reinterpret_cast<const ArenaWrite*>(staged + writes),
      .write_count = static_cast<std::uint32_t>(delta_.writes().size()),
      .arena = arena_,
      .upload = upload_.data(),
      .first = first_,
      .count = writes - first_,
      .zeroed = zeroed_.data(),
      .zeros = zeros_};
  const std::size_t rest = zeros_ + (is_small ? writes - first_ : 0);
  const auto blocks =
      delta_.writes().size() + std::min<std::size_t>(kMostBlocks, (rest + 1023) / 1024);
  if (blocks > 0) {
    const ProfiledRange range("prepare");
    prepare<<<static_cast<unsigned>(blocks), kThreads, 0, stream>>>(arguments);
    check(cudaGetLastError(), "launching a kernel");
  }
  forget();
  return end_ * sizeof(std::uint64_t);
}

bool Upload::put_into(InlineUpload& upload) {
  const auto& writes = delta_.writes();
  const std::size_t of_round = end_ - first_, of_writes = words_of<ArenaWrite>(writes.size());
  const std::size_t words = of_round + of_writes + delta_.size();
  if (words > InlineUpload::kWords || zeros_ > kClean) return false;
  is_inline_ = true;
  upload_.reserve(end_);
  std::memcpy(upload.data, staging_.data() + first_, of_round * sizeof(std::uint64_t));
  auto* const to = reinterpret_cast<ArenaWrite*>(upload.data + of_round);
  for (std::size_t i = 0; i < writes.size(); ++i) {
    to[i] = writes[i];
    to[i].from += of_round + of_writes;
  }
  std::memcpy(upload.data + of_round + of_writes, staging_.data(),
              delta_.size() * sizeof(std::uint64_t));
  upload.base = upload_.data() + first_;
  upload.arena = arena_;
  upload.words = static_cast<std::uint32_t>(words);
  upload.first_write = static_cast<std::uint32_t>(of_round);
  upload.writes = static_cast<std::uint32_t>(writes.size());
  forget();
  return true;
}

}  // namespace gorgo::gpu
