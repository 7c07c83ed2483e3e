#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "base/int128.hpp"

namespace gorgo {

/// The exact sum of binary64 values, rounded once when read (language.md §6): independent of the
/// order of additions. A fixed-point accumulator wide enough for every finite double, after
/// Kulisch's long accumulator; 64 guard bits allow 2^63 additions.
class ExactSum {
  static constexpr int kLimbs = 34;  // 2098 bits for finite values, 64 and more to spare

 public:
  using Words = std::array<std::uint64_t, kLimbs + 3>;

  void add(double value);
  /// Adds several, in a fraction of the time where most are at most 2^30 times as large or as small
  /// as the first.
  void add(std::span<const double> values);
  void add(const ExactSum& other);
  /// Adds what was added to the one behind the moment at which it was the other.
  void add_difference(const ExactSum& upto, const ExactSum& before);
  /// Adds `units` * 2^(bit - 1074): a part of a sum that was taken elsewhere. 0 <= bit <= 2112.
  void add_units(Int128 units, int bit);
  /// Ties to even; overflow gives an infinity; NaN for a NaN or infinities of both signs;
  /// +0.0 for a zero sum.
  double rounded() const;

  /// All that it is, so that it can be kept elsewhere.
  Words words() const;
  static ExactSum of(const Words& words);

 private:
  // Two's complement, least significant limb first; bit 0 weighs 2^-1074.
  std::array<std::uint64_t, kLimbs> limbs_{};
  std::uint64_t nans_ = 0;
  std::uint64_t positive_infinities_ = 0;
  std::uint64_t negative_infinities_ = 0;

  void add_shifted(std::uint64_t mantissa, int shift, bool negative);
};

}  // namespace gorgo
