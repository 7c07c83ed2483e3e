#pragma once

#include <cstdint>
#include <span>

#include "engine/column/block_kernels.hpp"

/// What the files of the kernels for each set of instructions share.
namespace gorgo::engine::kernels {

using Words = const std::uint64_t*;
using Compare = BlockKernels::Compare;
using Calculate = BlockKernels::Calculate;
using Extracted = BlockKernels::Extracted;
using Terms = std::span<const BlockKernels::Term>;
template <class Loop>
using ByShape = BlockKernels::ByShape<Loop>;

enum class Arithmetic : std::uint8_t { add, subtract, multiply, divide };
/// What the terms of a sum are.
enum class TermKind : std::uint8_t { product, square };

inline constexpr std::uint64_t kWithoutSign = ~std::uint64_t{0} >> 1;

inline const double* floats_at(Words words, std::size_t i) {
  return reinterpret_cast<const double*>(words + i);
}

extern const BlockKernels kPlain;
#if defined(__x86_64__)
extern const BlockKernels kAvx2, kAvx512;
#endif

}  // namespace gorgo::engine::kernels
