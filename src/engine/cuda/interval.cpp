#include "engine/cuda/interval.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "base/arithmetic.hpp"

namespace gorgo::engine {
namespace {

using gpu::Bounds;
using Int = std::int64_t;

constexpr Int kLeast = std::numeric_limits<Int>::min();
constexpr Int kMost = std::numeric_limits<Int>::max();
constexpr double kUnbounded = std::numeric_limits<double>::infinity();
constexpr double kTwo63 = 9223372036854775808.0;

Bounds of(Int low, Int high) {
  return {static_cast<std::uint64_t>(low), static_cast<std::uint64_t>(high)};
}
Bounds of(double low, double high) {
  return {std::bit_cast<std::uint64_t>(low), std::bit_cast<std::uint64_t>(high)};
}
Bounds no_integers() { return of(Int{1}, Int{0}); }
Bounds no_floats() { return of(1.0, 0.0); }

Bounds integers_below(Int value) { return value == kLeast ? no_integers() : of(kLeast, value - 1); }
Bounds integers_above(Int value) { return value == kMost ? no_integers() : of(value + 1, kMost); }

Bounds interval(Op op, Int value) {
  switch (op) {
    case Op::less:
      return integers_below(value);
    case Op::less_equal:
      return of(kLeast, value);
    case Op::greater:
      return integers_above(value);
    case Op::greater_equal:
      return of(value, kMost);
    default:
      return of(value, value);
  }
}

/// The ints in relation to a float.
Bounds interval_around(Op op, double value) {
  const bool upwards = op == Op::greater || op == Op::greater_equal;
  if (std::isnan(value)) return no_integers();
  if (value >= kTwo63) return upwards || op == Op::equal ? no_integers() : of(kLeast, kMost);
  if (value < -kTwo63) return upwards ? of(kLeast, kMost) : no_integers();
  const Int below = static_cast<Int>(std::floor(value));
  if (static_cast<double>(below) == value) return interval(op, below);
  // The value lies between two ints.
  if (op == Op::equal) return no_integers();
  return upwards ? integers_above(below) : of(kLeast, below);
}

double next(double value) { return std::nextafter(value, kUnbounded); }
double previous(double value) { return std::nextafter(value, -kUnbounded); }

Bounds interval(Op op, double value) {
  if (std::isnan(value)) return no_floats();
  switch (op) {
    case Op::less:
      return value == -kUnbounded ? no_floats() : of(-kUnbounded, previous(value));
    case Op::less_equal:
      return of(-kUnbounded, value);
    case Op::greater:
      return value == kUnbounded ? no_floats() : of(next(value), kUnbounded);
    case Op::greater_equal:
      return of(value, kUnbounded);
    default:
      return of(value, value);
  }
}

/// The floats in relation to an int, which may lie between the float nearest to it and the next.
Bounds interval_around(Op op, Int value) {
  const double nearest = static_cast<double>(value);
  const auto order = arithmetic::order(nearest, value);
  if (order == arithmetic::Ordering::equal) return interval(op, nearest);
  if (op == Op::equal) return no_floats();
  const bool is_below = order == arithmetic::Ordering::less;
  if (op == Op::less || op == Op::less_equal) {
    return of(-kUnbounded, is_below ? nearest : previous(nearest));
  }
  return of(is_below ? next(nearest) : nearest, kUnbounded);
}

}  // namespace

Bounds interval_of_integers(Op op, const Datum& value) {
  if (value.tag == Datum::Tag::floating) return interval_around(op, value.floating);
  return interval(op, value.tag == Datum::Tag::boolean ? Int{value.boolean} : value.integer);
}

Bounds interval_of_floats(Op op, const Datum& value) {
  if (value.tag == Datum::Tag::floating) return interval(op, value.floating);
  return interval_around(op, value.integer);
}

Bounds everything(bool floats) { return floats ? of(-kUnbounded, kUnbounded) : of(kLeast, kMost); }

Bounds intersection(bool floats, const Bounds& a, const Bounds& b) {
  if (!floats) {
    return of(std::max(static_cast<Int>(a.low), static_cast<Int>(b.low)),
              std::min(static_cast<Int>(a.high), static_cast<Int>(b.high)));
  }
  return of(std::max(std::bit_cast<double>(a.low), std::bit_cast<double>(b.low)),
            std::min(std::bit_cast<double>(a.high), std::bit_cast<double>(b.high)));
}

bool is_empty(bool floats, const Bounds& bounds) {
  if (!floats) return static_cast<Int>(bounds.low) > static_cast<Int>(bounds.high);
  return std::bit_cast<double>(bounds.low) > std::bit_cast<double>(bounds.high);
}

}  // namespace gorgo::engine
