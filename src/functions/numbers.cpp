#include "functions/numbers.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "base/arithmetic.hpp"
#include "functions/rounded.hpp"

namespace gorgo::functions {
namespace {

using Tag = Datum::Tag;

Datum absolute(const Datum& x) {
  if (x.tag == Tag::floating) return Datum::of(std::fabs(x.floating));
  return x.integer < 0 ? arithmetic::negate(x) : x;
}

Datum sign_of(const Datum& x) {
  if (x.tag == Tag::integer) {
    return Datum::of(std::int64_t{x.integer > 0} - std::int64_t{x.integer < 0});
  }
  if (std::isnan(x.floating)) return Datum::none();
  return Datum::of(std::int64_t{x.floating > 0} - std::int64_t{x.floating < 0});
}

Datum whole(const Datum& x, double (*to_whole)(double)) {
  if (x.tag == Tag::integer) return x;
  return arithmetic::to_int(Datum::of(to_whole(x.floating)));
}

Datum remainder(const Datum& a, const Datum& b) {
  if (a.tag == Tag::floating) return Datum::of(std::fmod(a.floating, b.floating));
  if (b.integer == 0) return Datum::none();
  return Datum::of(b.integer == -1 ? std::int64_t{0} : a.integer % b.integer);
}

/// The outermost in the direction of `op`, and a NaN if there is one.
Datum outermost(Op op, std::span<const Datum> numbers) {
  Datum found = numbers[0];
  for (const Datum& number : numbers) {
    if (number.tag == Tag::floating && std::isnan(number.floating)) return number;
    if (arithmetic::compare(op, number, found)) found = number;
  }
  return found;
}

/// The haversine of an angle in radians.
double haversine(double angle) {
  const double half = rounded_sin(angle / 2);
  return half * half;
}

/// The haversine formula (R. W. Sinnott, "Virtues of the Haversine", Sky and Telescope 68, 1984)
/// on the sphere of the earth's mean radius (IUGG). A place outside of the earth gives NaN.
double distance_on_earth(std::span<const Datum> degrees) {
  constexpr double kRadius = 6371008.8;
  constexpr double kRadian = std::numbers::pi / 180;
  const double latitude = degrees[0].floating, other_latitude = degrees[2].floating;
  if (!(std::fabs(latitude) <= 90 && std::fabs(other_latitude) <= 90)) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  const double across = haversine((degrees[3].floating - degrees[1].floating) * kRadian);
  const double along = haversine((other_latitude - latitude) * kRadian);
  const double cosines = rounded_cos(latitude * kRadian) * rounded_cos(other_latitude * kRadian);
  const double chord = std::min(1.0, along + cosines * across);
  const double angle = rounded_atan2(std::sqrt(chord), std::sqrt(1 - chord));
  return 2 * kRadius * angle;
}

}  // namespace

Datum call_on_numbers(Function function, std::span<const Datum> arguments) {
  const Datum& x = arguments[0];
  switch (function) {
    case Function::abs:
      return absolute(x);
    case Function::sign:
      return sign_of(x);
    case Function::floor:
      return whole(x, std::floor);
    case Function::ceil:
      return whole(x, std::ceil);
    case Function::round:
      return whole(x, std::round);
    case Function::mod:
      return remainder(x, arguments[1]);
    case Function::min:
      return outermost(Op::less, arguments);
    case Function::max:
      return outermost(Op::greater, arguments);
    case Function::sqrt:
      return Datum::of(std::sqrt(x.floating));
    case Function::exp:
      return Datum::of(rounded_exp(x.floating));
    case Function::ln:
      return Datum::of(rounded_log(x.floating));
    case Function::log10:
      return Datum::of(rounded_log10(x.floating));
    case Function::pow:
      return Datum::of(rounded_pow(x.floating, arguments[1].floating));
    case Function::sin:
      return Datum::of(rounded_sin(x.floating));
    case Function::cos:
      return Datum::of(rounded_cos(x.floating));
    case Function::atan2:
      return Datum::of(rounded_atan2(x.floating, arguments[1].floating));
    default:
      return Datum::of(distance_on_earth(arguments));
  }
}

}  // namespace gorgo::functions
