#include "base/exact_sum.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace gorgo {
namespace {

constexpr int kMantissaBits = 52;

/// A finite double is its mantissa * 2^(shift - 1074).
int shift_of(std::uint64_t bits) {
  return std::max(1, static_cast<int>(bits >> kMantissaBits & 0x7FF)) - 1;
}
std::uint64_t mantissa_of(std::uint64_t bits) {
  const std::uint64_t fraction = bits & ((std::uint64_t{1} << kMantissaBits) - 1);
  const bool is_normal = (bits >> kMantissaBits & 0x7FF) != 0;
  return fraction | std::uint64_t{is_normal} << kMantissaBits;
}
bool is_negative(std::uint64_t bits) { return bits >> 63 != 0; }

/// The 53 bits of a little-endian magnitude from bit `lowest` on.
template <class Limbs>
std::uint64_t mantissa_at(const Limbs& limbs, int lowest) {
  const auto limb = static_cast<std::size_t>(lowest / 64);
  UInt128 wide = limbs[limb];
  if (limb + 1 < limbs.size()) wide |= static_cast<UInt128>(limbs[limb + 1]) << 64;
  constexpr std::uint64_t kAll = (std::uint64_t{2} << kMantissaBits) - 1;
  return static_cast<std::uint64_t>(wide >> (lowest % 64)) & kAll;
}

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

/// 2^exponent, which is an infinity where it is too large. Precondition: exponent >= -1074.
double power_of_two(int exponent) {
  constexpr int kBias = 1023, kSmallest = -1074;
  if (exponent > kBias) return std::numeric_limits<double>::infinity();
  const bool is_normal = exponent + kBias > 0;
  return std::bit_cast<double>(is_normal
                                   ? static_cast<std::uint64_t>(exponent + kBias) << kMantissaBits
                                   : std::uint64_t{1} << (exponent - kSmallest));
}

/// `magnitude` * 2^-1074, rounded to nearest, ties to even.
template <class Limbs>
double round_magnitude(const Limbs& magnitude) {
  const int top = highest_bit(magnitude);
  if (top < 0) return 0.0;
  const int lowest = top > kMantissaBits ? top - kMantissaBits : 0;  // of the bits that are kept
  std::uint64_t mantissa = mantissa_at(magnitude, lowest);
  if (lowest > 0 && bit(magnitude, lowest - 1)) {
    const bool above_half = any_below(magnitude, lowest - 1);
    if (above_half || (mantissa & 1) != 0) ++mantissa;
  }
  return static_cast<double>(mantissa) * power_of_two(lowest - 1074);
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
  const std::uint64_t mantissa = mantissa_of(bits);
  if (mantissa != 0) add_shifted(mantissa, shift_of(bits), is_negative(bits));
}

/// Adds up as integers of one unit those whose exponents are close to that of the first.
void ExactSum::add(std::span<const double> values) {
  constexpr int kMostApart = 62;         // so that a unit times a power of two is an int64
  constexpr std::size_t kAtOnce = 1024;  // so that 128 bits have room for the sum
  while (!values.empty()) {
    const auto some = values.first(std::min(kAtOnce, values.size()));
    values = values.subspan(some.size());
    const int first = shift_of(std::bit_cast<std::uint64_t>(some.front()));
    const int unit = std::max(0, first - kMostApart / 2);
    Int128 units = 0;
    for (const double value : some) {
      const auto bits = std::bit_cast<std::uint64_t>(value);
      const int apart = shift_of(bits) - unit;
      if (apart < 0 || apart > kMostApart || !std::isfinite(value)) {
        add(value);
        continue;
      }
      const auto mantissa = static_cast<std::int64_t>(mantissa_of(bits));
      units += static_cast<Int128>(is_negative(bits) ? -mantissa : mantissa) *
               (std::int64_t{1} << apart);
    }
    if (units != 0) add_units(units, unit);
  }
}

void ExactSum::add_units(Int128 units, int bit) {
  const UInt128 magnitude = units < 0 ? -static_cast<UInt128>(units) : static_cast<UInt128>(units);
  const auto above = static_cast<std::uint64_t>(magnitude >> 64);
  add_shifted(static_cast<std::uint64_t>(magnitude), bit, units < 0);
  if (above != 0) add_shifted(above, bit + 64, units < 0);
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

/// Most limbs of a sum are zero.
void ExactSum::add(const ExactSum& other) {
  unsigned long long carry = 0;
  for (std::size_t i = 0; i < kLimbs; ++i) {
    if (other.limbs_[i] == 0 && carry == 0) continue;
    const UInt128 sum = static_cast<UInt128>(limbs_[i]) + other.limbs_[i] + carry;
    limbs_[i] = static_cast<std::uint64_t>(sum);
    carry = static_cast<unsigned long long>(sum >> 64);
  }
  nans_ += other.nans_;
  positive_infinities_ += other.positive_infinities_;
  negative_infinities_ += other.negative_infinities_;
}

/// Most limbs of two such sums are the same.
void ExactSum::add_difference(const ExactSum& upto, const ExactSum& before) {
  Int128 carry = 0;
  for (std::size_t i = 0; i < kLimbs; ++i) {
    if (upto.limbs_[i] == before.limbs_[i] && carry == 0) continue;
    carry += static_cast<Int128>(limbs_[i]) + upto.limbs_[i] - before.limbs_[i];
    limbs_[i] = static_cast<std::uint64_t>(carry);
    carry >>= 64;
  }
  nans_ += upto.nans_ - before.nans_;
  positive_infinities_ += upto.positive_infinities_ - before.positive_infinities_;
  negative_infinities_ += upto.negative_infinities_ - before.negative_infinities_;
}

double ExactSum::rounded() const {
  if (nans_ > 0 || (positive_infinities_ > 0 && negative_infinities_ > 0)) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  if (positive_infinities_ > 0) return std::numeric_limits<double>::infinity();
  if (negative_infinities_ > 0) return -std::numeric_limits<double>::infinity();
  if (limbs_.back() >> 63 == 0) return round_magnitude(limbs_);
  auto magnitude = limbs_;
  negate(magnitude);
  return -round_magnitude(magnitude);
}

ExactSum::Words ExactSum::words() const {
  Words words{};
  std::ranges::copy(limbs_, words.begin());
  words[kLimbs] = nans_;
  words[kLimbs + 1] = positive_infinities_;
  words[kLimbs + 2] = negative_infinities_;
  return words;
}

ExactSum ExactSum::of(const Words& words) {
  ExactSum sum;
  std::copy_n(words.begin(), kLimbs, sum.limbs_.begin());
  sum.nans_ = words[kLimbs];
  sum.positive_infinities_ = words[kLimbs + 1];
  sum.negative_infinities_ = words[kLimbs + 2];
  return sum;
}

}  // namespace gorgo
