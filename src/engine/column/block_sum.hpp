#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/exact_sum.hpp"
#include "base/int128.hpp"
#include "engine/column/block_kernels.hpp"

namespace gorgo::engine {

/// The exact sum of numbers that come by blocks, of which a mask says which ones count. A block of
/// floats is divided into parts whose sums are exact in binary64, so that only these go through the
/// accumulator of an `ExactSum`. A block is `count` <= kBlock words; all are floats, or all are
/// ints.
class BlockSum {
 public:
  void add_floats(const std::uint64_t* values, std::size_t count, const BlockMask& mask);
  void add_ints(const std::uint64_t* values, std::size_t count, const BlockMask& mask);
  /// Counts the values without a sum.
  void add_count(const BlockMask& mask);

  std::uint64_t count() const { return count_; }
  const ExactSum& of_floats() const { return floats_; }
  Int128 of_ints() const { return ints_; }

 private:
  std::uint64_t take(const std::uint64_t* values, std::size_t count, const BlockMask& mask);
  void add_one_by_one(std::size_t words);

  const BlockKernels& kernels_ = *block_kernels().front();
  std::uint64_t count_ = 0;
  ExactSum floats_;
  Int128 ints_ = 0;
  alignas(64) std::array<std::uint64_t, kBlock> rest_;  // what remains to be added of the block
};

}  // namespace gorgo::engine
