#include "functions/rounded.hpp"

#include <gtest/gtest.h>
#include <mpfr.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>

namespace gorgo::functions {
namespace {

using OfOne = int (*)(mpfr_ptr, mpfr_srcptr, mpfr_rnd_t);
using OfTwo = int (*)(mpfr_ptr, mpfr_srcptr, mpfr_srcptr, mpfr_rnd_t);

constexpr int kCases = 50'000;

/// Floats of all sizes, with some near 1 and some special ones.
double any_float(std::mt19937_64& random) {
  constexpr double kSpecial[] = {0.0,
                                 -0.0,
                                 1.0,
                                 -1.0,
                                 5e-324,
                                 0x1p-1022,
                                 1e22,
                                 std::numeric_limits<double>::infinity(),
                                 -std::numeric_limits<double>::infinity(),
                                 std::numeric_limits<double>::max()};
  const std::uint64_t bits = random();
  if (bits % 50 == 0) return kSpecial[bits / 50 % std::size(kSpecial)];
  if (bits % 2 == 0) return std::ldexp(static_cast<double>(static_cast<std::int64_t>(bits)), -60);
  return std::bit_cast<double>(random());
}

/// The result to 200 bits, rounded once more: a double rounding is wrong in one of 2^147 cases.
class Reference {
 public:
  Reference() { mpfr_inits2(200, x_, y_, result_, nullptr); }
  ~Reference() { mpfr_clears(x_, y_, result_, nullptr); }
  Reference(const Reference&) = delete;
  Reference& operator=(const Reference&) = delete;

  double of(OfOne function, double x) {
    mpfr_set_d(x_, x, MPFR_RNDN);
    function(result_, x_, MPFR_RNDN);
    return mpfr_get_d(result_, MPFR_RNDN);
  }
  double of(OfTwo function, double x, double y) {
    mpfr_set_d(x_, x, MPFR_RNDN);
    mpfr_set_d(y_, y, MPFR_RNDN);
    function(result_, x_, y_, MPFR_RNDN);
    return mpfr_get_d(result_, MPFR_RNDN);
  }

 private:
  mpfr_t x_, y_, result_;
};

bool is_same(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}

/// The functions narrow the range of MPFR's exponents on this thread; the reference needs it whole.
void widen() {
  mpfr_set_emin(mpfr_get_emin_min());
  mpfr_set_emax(mpfr_get_emax_max());
}

void check(double (*function)(double), OfOne exact) {
  std::mt19937_64 random(7);
  for (int i = 0; i < kCases; ++i) {
    const double x = any_float(random);
    const double got = function(x);
    widen();
    const double expected = Reference().of(exact, x);
    ASSERT_TRUE(is_same(got, expected)) << std::hexfloat << x << ": " << got << " " << expected;
  }
}

void check(double (*function)(double, double), OfTwo exact) {
  std::mt19937_64 random(8);
  for (int i = 0; i < kCases; ++i) {
    const double x = any_float(random), y = any_float(random);
    const double got = function(x, y);
    widen();
    const double expected = Reference().of(exact, x, y);
    ASSERT_TRUE(is_same(got, expected))
        << std::hexfloat << x << ", " << y << ": " << got << " " << expected;
  }
}

TEST(Rounded, Exp) { check(rounded_exp, mpfr_exp); }
TEST(Rounded, Log) { check(rounded_log, mpfr_log); }
TEST(Rounded, Log10) { check(rounded_log10, mpfr_log10); }
TEST(Rounded, Sin) { check(rounded_sin, mpfr_sin); }
TEST(Rounded, Cos) { check(rounded_cos, mpfr_cos); }
TEST(Rounded, Pow) { check(rounded_pow, mpfr_pow); }
TEST(Rounded, Atan2) { check(rounded_atan2, mpfr_atan2); }

}  // namespace
}  // namespace gorgo::functions
