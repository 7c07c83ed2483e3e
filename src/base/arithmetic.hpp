#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <string_view>

#include "base/number.hpp"
#include "gorgo/value.hpp"

/// What the operators of the language do to values (language.md §5), for every engine and for
/// subscriptions. "No value" goes in and comes out as `Datum::none()`.
namespace gorgo::arithmetic {

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
