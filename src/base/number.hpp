#pragma once

#include <cstdint>

#include "base/int128.hpp"
#include "gorgo/op.hpp"

#ifdef __CUDACC__
#define GORGO_HD __host__ __device__
#else
#define GORGO_HD
#endif

/// What the operators do to numbers on the host, on a device, and in text that is compiled for a
/// device. That text knows no header of the standard library but <cstdint>.
namespace gorgo::arithmetic {

inline constexpr std::int64_t kLeastInteger = -9223372036854775807 - 1;

enum class Ordering : std::uint8_t { less, equal, greater, unordered };

template <class T>
GORGO_HD Ordering order(T a, T b) {
  if (a < b) return Ordering::less;
  if (b < a) return Ordering::greater;
  return a == b ? Ordering::equal : Ordering::unordered;
}

/// Compares the exact values: converting the int would lose the difference between
/// 9007199254740993 and 9007199254740992.0.
GORGO_HD inline Ordering order(std::int64_t a, double b) {
  constexpr double kTwo63 = 9223372036854775808.0;
  if (!(b == b)) return Ordering::unordered;
  if (b >= kTwo63) return Ordering::less;
  if (b < -kTwo63) return Ordering::greater;
  const auto whole = static_cast<std::int64_t>(b);
  if (a != whole) return order(a, whole);
  return order(0.0, b - static_cast<double>(whole));
}

GORGO_HD inline Ordering reversed(Ordering o) {
  if (o == Ordering::less) return Ordering::greater;
  return o == Ordering::greater ? Ordering::less : o;
}

GORGO_HD inline Ordering order(double a, std::int64_t b) { return reversed(order(b, a)); }

/// Whether a comparison operator holds for operands in this order. Unordered operands (a NaN)
/// satisfy only `!=`.
GORGO_HD inline bool satisfies(Ordering o, Op op) {
  switch (op) {
    case Op::equal:
      return o == Ordering::equal;
    case Op::not_equal:
      return o != Ordering::equal;
    case Op::less:
      return o == Ordering::less;
    case Op::less_equal:
      return o == Ordering::less || o == Ordering::equal;
    case Op::greater:
      return o == Ordering::greater;
    case Op::greater_equal:
      return o == Ordering::greater || o == Ordering::equal;
    default:
      return false;
  }
}

/// `a op b` on ints. False: no value, because of overflow or division by zero.
GORGO_HD inline bool calculate(Op op, std::int64_t a, std::int64_t b, std::int64_t& result) {
  switch (op) {
    case Op::add:
      result =
          static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
      return ((a ^ result) & (b ^ result)) >= 0;
    case Op::subtract:
      result =
          static_cast<std::int64_t>(static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b));
      return ((a ^ b) & (a ^ result)) >= 0;
    case Op::multiply: {
      const Int128 product = static_cast<Int128>(a) * b;
      result = static_cast<std::int64_t>(product);
      return product == result;
    }
    case Op::divide:
      if (b == 0 || (b == -1 && a == kLeastInteger)) return false;
      result = a / b;
      return true;
    default:
      return false;
  }
}

/// `a op b` on floats: IEEE binary64, each operation rounded once.
GORGO_HD inline double calculate(Op op, double a, double b) {
  switch (op) {
    case Op::add:
      return a + b;
    case Op::subtract:
      return a - b;
    case Op::multiply:
      return a * b;
    default:
      return a / b;
  }
}

/// float -> int, truncated. False: no value, for NaN and what does not fit.
GORGO_HD inline bool truncate(double a, std::int64_t& result) {
  const bool fits = a >= -9223372036854775808.0 && a < 9223372036854775808.0;
  if (fits) result = static_cast<std::int64_t>(a);
  return fits;
}

}  // namespace gorgo::arithmetic
