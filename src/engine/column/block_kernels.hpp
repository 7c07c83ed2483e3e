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
  /// out[i] = a[i] op b[i], floats.
  using Calculate = void (*)(std::uint64_t* out, const std::uint64_t* a, const std::uint64_t* b,
                             std::size_t words);
  /// Bit i: a[i] op b[i].
  using Compare = void (*)(BlockMask& mask, const std::uint64_t* a, const std::uint64_t* b,
                           std::size_t words);

  const char* name;  ///< of the instruction set
  Calculate add, subtract, multiply, divide;
  std::array<Compare, 6> compare_floats;  ///< by `comparison_index`
  std::array<Compare, 6> compare_ints;
};

/// `==`, `!=`, `<`, `<=`, `>`, `>=` as 0 ... 5; unset for other operators.
constexpr std::optional<std::size_t> comparison_index(Op op) {
  if (op < Op::equal || op > Op::greater_equal) return std::nullopt;
  return static_cast<std::size_t>(op) - static_cast<std::size_t>(Op::equal);
}

/// The kernels that this processor can run, the fastest first; the last are plain loops.
std::span<const BlockKernels* const> block_kernels();

}  // namespace gorgo::engine
