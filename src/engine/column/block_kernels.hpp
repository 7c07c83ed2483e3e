#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "gorgo/rule.hpp"

namespace gorgo::engine {

/// How many events are tested at once, at most: enough that the work is in the loops, and so few
/// that the values calculated on the way stay in the nearest cache.
inline constexpr std::size_t kBlock = 256;

/// A bit for each event of a block.
using BlockMask = std::array<std::uint64_t, kBlock / 64>;

/// Loops over `words` * 64 events, in the widest vectors that the processor has. Operands are the
/// words of ints or floats, and do not overlap what is written. Floats are calculated as
/// everywhere: IEEE binary64, each operation rounded once.
struct BlockKernels {
  struct Extracted {
    double sum;          ///< of the parts
    std::uint64_t rest;  ///< 0 if nothing but zeros remains
  };

  /// out[i] = a[i] op b[i], floats.
  using Calculate = void (*)(std::uint64_t* out, const std::uint64_t* a, const std::uint64_t* b,
                             std::size_t words);
  /// Bit i: a[i] op b[i].
  using Compare = void (*)(BlockMask& mask, const std::uint64_t* a, const std::uint64_t* b,
                           std::size_t words);
  /// What is added of each event: its value times the constant, or the square of their difference.
  struct Term {
    const std::uint64_t* values;
    double constant;
  };
  /// out[i] = the sum of the terms, each added to those before it. It is there for half spaces and
  /// distances, which would else write and read a block for every operation. There is a term.
  using Sum = void (*)(std::uint64_t* out, std::span<const Term> terms, std::size_t words);
  /// out[i] = values[i] where bit i is set, else 0. Returns the greatest of them without their
  /// signs, as a word: those of floats stand in the order of their sizes, NaN above infinity.
  using Take = std::uint64_t (*)(std::uint64_t* out, const std::uint64_t* values,
                                 const BlockMask& mask, std::size_t words);
  /// Takes off each float x the part (x + sigma) - sigma, a multiple of the unit in the last place
  /// below `sigma`, which is a power of two. Preconditions: 512 times the greatest float without
  /// its sign is at most `sigma`, and there are 256 floats at most. The parts, their sum and what
  /// remains are exact then (Rump, Ogita and Oishi, "Accurate floating-point summation I", SIAM J.
  /// Sci. Comput. 2008, ExtractVector).
  using Extract = Extracted (*)(std::uint64_t* values, double sigma, std::size_t words);

  /// A loop for each kind of its operands, see `shape`.
  template <class Loop>
  using ByShape = std::array<Loop, 4>;
  /// A constant operand is one word, which stands for every event.
  static constexpr std::size_t shape(bool is_a_constant, bool is_b_constant) {
    return (is_a_constant ? 1U : 0U) + (is_b_constant ? 2U : 0U);
  }

  const char* name;  ///< of the instruction set
  ByShape<Calculate> add, subtract, multiply, divide;
  Sum sum_products, sum_squares;
  std::array<ByShape<Compare>, 6> compare_floats;  ///< by `comparison_index`
  std::array<ByShape<Compare>, 6> compare_ints;
  Take take;
  Extract extract;
};

/// `==`, `!=`, `<`, `<=`, `>`, `>=` as 0 ... 5; unset for other operators.
constexpr std::optional<std::size_t> comparison_index(Op op) {
  if (op < Op::equal || op > Op::greater_equal) return std::nullopt;
  return static_cast<std::size_t>(op) - static_cast<std::size_t>(Op::equal);
}

/// The kernels that this processor can run, the fastest first; the last are plain loops.
std::span<const BlockKernels* const> block_kernels();

}  // namespace gorgo::engine
