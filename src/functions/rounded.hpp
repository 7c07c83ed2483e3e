#pragma once

/// Functions of real numbers, correctly rounded to nearest, with the special values of C's Annex F.
/// A result of the C library in extended precision is taken where every number within its error
/// rounds to the same float; the other cases, about one in a hundred, are left to MPFR (A. Ziv,
/// "Fast evaluation of elementary mathematical functions with correctly rounded last bit", ACM
/// TOMS 17, 1991). Thread-safe.
namespace gorgo::functions {

double rounded_exp(double x);
double rounded_log(double x);
double rounded_log10(double x);
double rounded_sin(double x);
double rounded_cos(double x);
double rounded_pow(double x, double y);
double rounded_atan2(double y, double x);

}  // namespace gorgo::functions
