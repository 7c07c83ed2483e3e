#include "base/exact_sum.hpp"

#include <bit>
#include <cmath>
#include <limits>

#include "base/int128.hpp"

namespace gorgo {
namespace {

constexpr int kMantissaBits = 52;

/// Bit `i` of a little-endian magnitude.
template <class Limbs>
bool bit(const Limbs& limbs, int i) {
  return (limbs[i / 64] >> (i % 64)) & 1;
}

template <class Limbs>
int highest_bit(const Limbs& limbs) {
  for (int i = static_cast<int>(limbs.size()) - 1; i >= 0; --i) {
    if (limbs[i] != 0) return i * 64 + 63 - std::countl_zero(limbs[i]);
  }
  return -1;
}

template <class Limbs>
bool any_below(const Limbs& limbs, int i) {
  for (int limb = 0; limb < i / 64; ++limb) {
    if (limbs[limb] != 0) return true;
  }
  return i % 64 != 0 && (limbs[i / 64] & ((std::uint64_t{1} << (i % 64)) - 1)) != 0;
}

template <class Limbs>
void negate(Limbs& limbs) {
  bool carry = true;
  for (auto& limb : limbs) {
    limb = ~limb + (carry ? 1 : 0);
    carry = carry && limb == 0;
  }
}

/// `magnitude` * 2^-1074, rounded to nearest, ties to even.
template <class Limbs>
double round_magnitude(const Limbs& magnitude) {
  const int top = highest_bit(magnitude);
  if (top < 0) return 0.0;
  const int lowest = top > kMantissaBits ? top - kMantissaBits : 0;  // of the bits that are kept
  std::uint64_t mantissa = 0;
  for (int i = top; i >= lowest; --i) mantissa = mantissa << 1 | (bit(magnitude, i) ? 1 : 0);
  if (lowest > 0 && bit(magnitude, lowest - 1)) {
    const bool above_half = any_below(magnitude, lowest - 1);
    if (above_half || (mantissa & 1) != 0) ++mantissa;
  }
  return std::ldexp(static_cast<double>(mantissa), lowest - 1074);
}

}  // namespace

void ExactSum::add(double value) {
  if (std::isnan(value)) {
    ++nans_;
    return;
  }
  if (std::isinf(value)) {
    ++(value > 0 ? positive_infinities_ : negative_infinities_);
    return;
  }
  const auto bits = std::bit_cast<std::uint64_t>(value);
  const int exponent = static_cast<int>(bits >> kMantissaBits & 0x7FF);
  std::uint64_t mantissa = bits & ((std::uint64_t{1} << kMantissaBits) - 1);
  if (exponent != 0) mantissa |= std::uint64_t{1} << kMantissaBits;
  if (mantissa != 0) add_shifted(mantissa, exponent == 0 ? 0 : exponent - 1, bits >> 63 != 0);
}

void ExactSum::add_units(std::int64_t units, int bit) {
  const auto magnitude = static_cast<std::uint64_t>(units);
  add_shifted(units < 0 ? ~magnitude + 1 : magnitude, bit, units < 0);
}

void ExactSum::add_shifted(std::uint64_t mantissa, int shift, bool negative) {
  const int first = shift / 64;
  const UInt128 wide = static_cast<UInt128>(mantissa) << (shift % 64);
  const std::uint64_t parts[2] = {static_cast<std::uint64_t>(wide),
                                  static_cast<std::uint64_t>(wide >> 64)};
  unsigned long long carry = 0;
  for (int i = 0; first + i < kLimbs && (i < 2 || carry != 0); ++i) {
    auto& limb = limbs_[first + i];
    const unsigned long long part = i < 2 ? parts[i] : 0;
    unsigned long long partial = 0;
    unsigned long long result = 0;
    bool over = false;
    if (negative) {
      over = __builtin_usubll_overflow(limb, part, &partial);
      over |= __builtin_usubll_overflow(partial, carry, &result);
    } else {
      over = __builtin_uaddll_overflow(limb, part, &partial);
      over |= __builtin_uaddll_overflow(partial, carry, &result);
    }
    limb = result;
    carry = over ? 1 : 0;
  }
}

void ExactSum::add(const ExactSum& other) {
  UInt128 sum = 0;
  for (int i = 0; i < kLimbs; ++i) {
    sum = (sum >> 64) + limbs_[i] + other.limbs_[i];
    limbs_[i] = static_cast<std::uint64_t>(sum);
  }
  nans_ += other.nans_;
  positive_infinities_ += other.positive_infinities_;
  negative_infinities_ += other.negative_infinities_;
}

void ExactSum::subtract(const ExactSum& other) {
  UInt128 difference = 0;
  for (int i = 0; i < kLimbs; ++i) {
    const UInt128 borrow = difference >> 127;
    difference = static_cast<UInt128>(limbs_[i]) - other.limbs_[i] - borrow;
    limbs_[i] = static_cast<std::uint64_t>(difference);
  }
  nans_ -= other.nans_;
  positive_infinities_ -= other.positive_infinities_;
  negative_infinities_ -= other.negative_infinities_;
}

double ExactSum::rounded() const {
  if (nans_ > 0 || (positive_infinities_ > 0 && negative_infinities_ > 0)) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  if (positive_infinities_ > 0) return std::numeric_limits<double>::infinity();
  if (negative_infinities_ > 0) return -std::numeric_limits<double>::infinity();
  auto magnitude = limbs_;
  const bool negative = magnitude.back() >> 63 != 0;
  if (negative) negate(magnitude);
  const double rounded = round_magnitude(magnitude);
  return negative ? -rounded : rounded;
}

}  // namespace gorgo
