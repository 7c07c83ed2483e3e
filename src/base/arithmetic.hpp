#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <string_view>

#include "base/int128.hpp"
#include "gorgo/rule.hpp"
#include "gorgo/value.hpp"

#ifdef __CUDACC__
#define GORGO_HD __host__ __device__
#else
#define GORGO_HD
#endif

/// What the operators of the language do to values (TESLA.md §5), for every engine and for
/// subscriptions. "No value" goes in and comes out as `Datum::none()`.
namespace gorgo::arithmetic {

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

/// Whether a comparison operator holds for operands that stand so; unordered (a NaN) is only `!=`.
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

/// How two values stand; unordered for a NaN and for values that have no order between them
/// (checked rules never compare those; subscriptions may).
inline Ordering order(const Datum& a, const Datum& b) {
  using Tag = Datum::Tag;
  if (a.tag == Tag::integer && b.tag == Tag::integer) return order(a.integer, b.integer);
  if (a.tag == Tag::floating && b.tag == Tag::floating) return order(a.floating, b.floating);
  if (a.tag == Tag::integer && b.tag == Tag::floating) return order(a.integer, b.floating);
  if (a.tag == Tag::floating && b.tag == Tag::integer) return order(a.floating, b.integer);
  if (a.tag == Tag::boolean && b.tag == Tag::boolean) return order(a.boolean, b.boolean);
  if (a.tag == Tag::string && b.tag == Tag::string) {
    const int c = a.text().compare(b.text());
    return c < 0 ? Ordering::less : c > 0 ? Ordering::greater : Ordering::equal;
  }
  return Ordering::unordered;
}

inline bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

/// A comparison operator (`contains` included) on two values; false when one is no value.
inline bool compare(Op op, const Datum& a, const Datum& b) {
  if (!a.exists() || !b.exists()) return false;
  if (op == Op::contains) {
    return a.tag == Datum::Tag::string && b.tag == Datum::Tag::string &&
           contains(a.text(), b.text());
  }
  return satisfies(order(a, b), op);
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
      if (b == 0 || (b == -1 && a == INT64_MIN)) return false;
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

/// int -> float, to nearest. A float stays, no value stays none.
inline Datum to_float(const Datum& a) {
  return a.tag == Datum::Tag::integer ? Datum::of(static_cast<double>(a.integer)) : a;
}

/// float -> int, truncated; NaN and what does not fit are no value. An int stays.
inline Datum to_int(const Datum& a) {
  if (a.tag != Datum::Tag::floating) return a;
  std::int64_t result = 0;
  return truncate(a.floating, result) ? Datum::of(result) : Datum::none();
}

/// An arithmetic operator on two numbers, with the int converted where a float stands on the
/// other side; none when an operand is no value or no number.
inline Datum calculate(Op op, const Datum& a, const Datum& b) {
  using Tag = Datum::Tag;
  if (a.tag == Tag::integer && b.tag == Tag::integer) {
    std::int64_t result = 0;
    return calculate(op, a.integer, b.integer, result) ? Datum::of(result) : Datum::none();
  }
  const Datum x = to_float(a);
  const Datum y = to_float(b);
  if (x.tag != Tag::floating || y.tag != Tag::floating) return Datum::none();
  return Datum::of(calculate(op, x.floating, y.floating));
}

inline Datum negate(const Datum& a) {
  if (a.tag == Datum::Tag::floating) return Datum::of(-a.floating);
  if (a.tag == Datum::Tag::integer) {
    return calculate(Op::subtract, Datum::of(std::int64_t{0}), a);
  }
  return Datum::none();
}

/// The one NaN that leaves an engine.
inline Datum canonical(const Datum& a) {
  const bool is_nan = a.tag == Datum::Tag::floating && std::isnan(a.floating);
  return is_nan ? Datum::of(std::numeric_limits<double>::quiet_NaN()) : a;
}

/// Timestamps and windows saturate.
inline Timestamp saturating_add(Timestamp a, Duration b) {
  std::int64_t result = 0;
  if (!__builtin_add_overflow(a, b, &result)) return result;
  return b > 0 ? std::numeric_limits<Timestamp>::max() : std::numeric_limits<Timestamp>::min();
}
inline Timestamp saturating_subtract(Timestamp a, Duration b) {
  std::int64_t result = 0;
  if (!__builtin_sub_overflow(a, b, &result)) return result;
  return b < 0 ? std::numeric_limits<Timestamp>::max() : std::numeric_limits<Timestamp>::min();
}

}  // namespace gorgo::arithmetic
