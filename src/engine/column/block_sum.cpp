#include "engine/column/block_sum.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace gorgo::engine {
namespace {

/// How many bits `BlockKernels::Extract` takes off a block at least: 53 less those that the sum of
/// 256 values and a sign need beside them.
constexpr int kBitsOfTurn = 44;
/// What spans more bits than so many turns take goes on one by one.
constexpr int kTurns = 3;
/// `BlockKernels::Extract` wants 2^9 times the greatest value as `sigma`.
constexpr int kRoom = 9;

/// The exponents that `sigma` may have: the next smaller ones must be normal, too.
constexpr int kLeastExponent = -900, kGreatestExponent = 1023;

std::size_t words_for(std::size_t count) { return (count + 63) / 64; }

}  // namespace

void BlockSum::add_count(const BlockMask& mask) {
  for (const std::uint64_t word : mask) count_ += static_cast<std::uint64_t>(std::popcount(word));
}

/// Puts the values that count into `rest_`, and zeros for the others. Returns what
/// `BlockKernels::Take` says of them.
std::uint64_t BlockSum::take(const std::uint64_t* values, std::size_t count,
                             const BlockMask& mask) {
  add_count(mask);
  const std::size_t words = words_for(count);
  if (count % 64 == 0) return kernels_.take(rest_.data(), values, mask, words);
  std::array<std::uint64_t, kBlock> whole;
  std::fill(std::copy_n(values, count, whole.begin()), whole.end(), 0);
  return kernels_.take(rest_.data(), whole.data(), mask, words);
}

void BlockSum::add_floats(const std::uint64_t* values, std::size_t count, const BlockMask& mask) {
  const auto greatest = std::bit_cast<double>(take(values, count, mask));
  const std::size_t words = words_for(count);
  if (greatest == 0) return;
  if (!std::isfinite(greatest)) return add_one_by_one(words);
  int exponent = std::ilogb(greatest) + 1 + kRoom;
  for (int turn = 0; turn < kTurns; ++turn, exponent -= kBitsOfTurn) {
    if (exponent > kGreatestExponent || exponent < kLeastExponent) break;
    const auto [sum, rest] = kernels_.extract(rest_.data(), std::ldexp(1.0, exponent), words);
    floats_.add(sum);
    if (rest == 0) return;
  }
  add_one_by_one(words);
}

void BlockSum::add_one_by_one(std::size_t words) {
  for (std::size_t i = 0; i < words * 64; ++i) {
    if (rest_[i] << 1 != 0) floats_.add(std::bit_cast<double>(rest_[i]));
  }
}

/// Adds halves, whose sums fit into words: the low ones, and the high ones counted from the least
/// int, so that no half is negative.
void BlockSum::add_ints(const std::uint64_t* values, std::size_t count, const BlockMask& mask) {
  constexpr std::uint64_t kLeast = std::uint64_t{1} << 63;
  take(values, count, mask);
  const std::size_t size = words_for(count) * 64;
  std::uint64_t low = 0, high = 0;
  for (std::size_t i = 0; i < size; ++i) {
    const std::uint64_t from_least = rest_[i] ^ kLeast;
    low += from_least & 0xFFFF'FFFF;
    high += from_least >> 32;
  }
  ints_ += (static_cast<Int128>(high) << 32) + low - static_cast<Int128>(size) * kLeast;
}

}  // namespace gorgo::engine
