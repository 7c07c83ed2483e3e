#include "functions/rounded.hpp"

#include <mpfr.h>

#include <cmath>
#include <limits>

#include "base/of_this_thread.hpp"

namespace gorgo::functions {
namespace {

using Extended = long double;
using OfOne = int (*)(mpfr_ptr, mpfr_srcptr, mpfr_rnd_t);
using OfTwo = int (*)(mpfr_ptr, mpfr_srcptr, mpfr_srcptr, mpfr_rnd_t);

/// The C library's functions of 64-bit significands err by less than 4 units in the last place,
/// 2^-61 of the result; this is twice as much.
constexpr Extended kError = 0x1p-60L;
constexpr bool kIsExtended = std::numeric_limits<Extended>::digits >= 64;

/// MPFR keeps constants for each thread, and frees them only when it is told so.
struct Caches {
  ~Caches() { mpfr_free_cache2(MPFR_FREE_LOCAL_CACHE); }
};

/// A number of MPFR with the range and the precision of a float.
class Exact {
 public:
  Exact() {
    static_cast<void>(of_this_thread<Caches>());
    mpfr_set_emin(-1073);
    mpfr_set_emax(1024);
    mpfr_init2(number_, std::numeric_limits<double>::digits);
  }
  explicit Exact(double value) : Exact() { mpfr_set_d(number_, value, MPFR_RNDN); }
  ~Exact() { mpfr_clear(number_); }
  Exact(const Exact&) = delete;
  Exact& operator=(const Exact&) = delete;

  /// Computes into this number.
  double value(OfOne function, const Exact& x) {
    return rounded(function(number_, x.number_, MPFR_RNDN));
  }
  double value(OfTwo function, const Exact& x, const Exact& y) {
    return rounded(function(number_, x.number_, y.number_, MPFR_RNDN));
  }

 private:
  double rounded(int direction) {
    mpfr_subnormalize(number_, direction, MPFR_RNDN);
    return mpfr_get_d(number_, MPFR_RNDN);
  }

  mpfr_t number_;
};

/// Whether all numbers within the error of `near` round to one float, which `result` becomes. A
/// result that is exact may lie half way between two floats, so that it never passes; results
/// that are no normal floats are not decided here.
bool is_decided(Extended near, double& result) {
  const Extended size = std::fabs(near);
  if (!kIsExtended || !(size > 0x1p-1000L && size < 0x1p1000L)) return false;
  result = static_cast<double>(near * (1 - kError));
  return result == static_cast<double>(near * (1 + kError));
}

double nearest(Extended near, OfOne exact, double x) {
  double result = 0;
  if (is_decided(near, result)) return result;
  return Exact().value(exact, Exact(x));
}

double nearest(Extended near, OfTwo exact, double x, double y) {
  double result = 0;
  if (is_decided(near, result)) return result;
  return Exact().value(exact, Exact(x), Exact(y));
}

}  // namespace

double rounded_exp(double x) { return nearest(std::exp(Extended{x}), mpfr_exp, x); }
double rounded_log(double x) { return nearest(std::log(Extended{x}), mpfr_log, x); }
double rounded_log10(double x) { return nearest(std::log10(Extended{x}), mpfr_log10, x); }
double rounded_sin(double x) { return nearest(std::sin(Extended{x}), mpfr_sin, x); }
double rounded_cos(double x) { return nearest(std::cos(Extended{x}), mpfr_cos, x); }
double rounded_pow(double x, double y) {
  return nearest(std::pow(Extended{x}, Extended{y}), mpfr_pow, x, y);
}
double rounded_atan2(double y, double x) {
  return nearest(std::atan2(Extended{y}, Extended{x}), mpfr_atan2, y, x);
}

}  // namespace gorgo::functions
