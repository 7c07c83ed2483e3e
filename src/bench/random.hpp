#pragma once

#include <cstdint>
#include <random>

#include "base/int128.hpp"

namespace gorgo::bench {

/// Gives equal numbers from equal seeds everywhere, because std::mt19937_64 is specified bit by
/// bit, unlike the distributions of the standard library.
class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}

  /// Uniform in [0, n); n > 0.
  std::uint64_t below(std::uint64_t n) {
    return static_cast<std::uint64_t>((static_cast<UInt128>(engine_()) * n) >> 64);
  }
  /// Uniform in [low, high].
  std::int64_t between(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(below(static_cast<std::uint64_t>(high - low) + 1));
  }
  /// Uniform in [0, 1), a multiple of 2^-53.
  double unit() { return static_cast<double>(engine_() >> 11) * 0x1p-53; }

 private:
  std::mt19937_64 engine_;
};

}  // namespace gorgo::bench
