#include "functions/catalogue.hpp"

#include <algorithm>
#include <array>
#include <limits>

namespace gorgo::functions {
namespace {

using P = Parameter;
using F = Function;

constexpr std::array kNumber = {P::number};
constexpr std::array kNumbers = {P::number, P::number};
constexpr std::array kFloat = {P::floating};
constexpr std::array kFloats = {P::floating, P::floating};
constexpr std::array kPlaces = {P::floating, P::floating, P::floating, P::floating};
constexpr std::array kText = {P::text};
constexpr std::array kTexts = {P::text, P::text};
constexpr std::array kTextAndPattern = {P::text, P::pattern};
constexpr std::array kPart = {P::text, P::integer, P::integer};
constexpr std::array kAny = {P::any};
constexpr std::array kAnys = {P::any, P::any};
constexpr std::array kChoice = {P::condition, P::any, P::any};
constexpr std::array kTime = {P::integer, P::zone};
constexpr std::array kTimeAndWidth = {P::integer, P::integer, P::zone};
constexpr std::array kInstant = {P::instant};

constexpr std::array kCatalogue = {
    Signature{F::abs, "abs", kNumber, 1, false, Gives::same, "abs(x)",
              "The size of a number. The least int has none that fits, so it gives no value."},
    Signature{F::sign, "sign", kNumber, 1, false, Gives::integer, "sign(x)",
              "-1, 0 or 1. NaN gives no value."},
    Signature{F::floor, "floor", kNumber, 1, false, Gives::integer, "floor(x)",
              "The greatest int that is not above x; no value where no int is."},
    Signature{F::ceil, "ceil", kNumber, 1, false, Gives::integer, "ceil(x)",
              "The least int that is not below x; no value where no int is."},
    Signature{F::round, "round", kNumber, 1, false, Gives::integer, "round(x)",
              "The nearest int, halves away from zero; no value where no int is."},
    Signature{F::mod, "mod", kNumbers, 2, false, Gives::common, "mod(a, b)",
              "What the division that truncates leaves, with the sign of a. An int modulo 0 gives "
              "no value, a float NaN."},
    Signature{F::min, "min", kNumbers, 2, true, Gives::common, "min(a, b, ...)",
              "The least of several numbers; NaN if one of them is."},
    Signature{F::max, "max", kNumbers, 2, true, Gives::common, "max(a, b, ...)",
              "The greatest of several numbers; NaN if one of them is."},
    Signature{F::sqrt, "sqrt", kFloat, 1, false, Gives::floating, "sqrt(x)",
              "The square root, NaN for negative numbers."},
    Signature{F::exp, "exp", kFloat, 1, false, Gives::floating, "exp(x)", "e to the power of x."},
    Signature{F::ln, "ln", kFloat, 1, false, Gives::floating, "ln(x)", "The natural logarithm."},
    Signature{F::log10, "log10", kFloat, 1, false, Gives::floating, "log10(x)",
              "The logarithm to base 10."},
    Signature{F::pow, "pow", kFloats, 2, false, Gives::floating, "pow(x, y)",
              "x to the power of y."},
    Signature{F::sin, "sin", kFloat, 1, false, Gives::floating, "sin(x)", "The sine of radians."},
    Signature{F::cos, "cos", kFloat, 1, false, Gives::floating, "cos(x)", "The cosine of radians."},
    Signature{F::atan2, "atan2", kFloats, 2, false, Gives::floating, "atan2(y, x)",
              "The angle of the point (x, y) in radians."},
    Signature{F::geo_distance, "geo_distance", kPlaces, 4, false, Gives::floating,
              "geo_distance(lat, lon, lat, lon)",
              "Metres on the great circle between two places in degrees, on a sphere of radius "
              "6371008.8 m."},
    Signature{F::length, "length", kText, 1, false, Gives::integer, "length(s)",
              "The number of code points."},
    Signature{F::lower, "lower", kText, 1, false, Gives::text, "lower(s)",
              "The string in lower case, code point by code point."},
    Signature{F::upper, "upper", kText, 1, false, Gives::text, "upper(s)",
              "The string in upper case, code point by code point."},
    Signature{F::concat, "concat", kAnys, 2, true, Gives::text, "concat(a, b, ...)",
              "One string of all arguments; numbers and bools as they are printed."},
    Signature{F::starts_with, "starts_with", kTexts, 2, false, Gives::boolean,
              "starts_with(s, beginning)", "Whether the string begins so."},
    Signature{F::ends_with, "ends_with", kTexts, 2, false, Gives::boolean, "ends_with(s, end)",
              "Whether the string ends so."},
    Signature{F::substring, "substring", kPart, 2, false, Gives::text, "substring(s, first, count)",
              "At most `count` code points from number `first` on, which is 1 for the first; "
              "without `count` all."},
    Signature{F::like, "like", kTextAndPattern, 2, false, Gives::boolean, "s like \"pattern\"",
              "Whether the whole string fits, where % stands for any characters and _ for one."},
    Signature{F::matches, "matches", kTextAndPattern, 2, false, Gives::boolean,
              "s matches \"pattern\"",
              "Whether a part of the string fits a regular expression of RE2."},
    Signature{F::exists, "exists", kAny, 1, false, Gives::boolean, "exists(x)",
              "Whether there is a value."},
    Signature{F::coalesce, "coalesce", kAnys, 2, true, Gives::common, "coalesce(a, b, ...)",
              "The first argument that has a value."},
    Signature{F::choose, "if", kChoice, 3, false, Gives::common, "if(condition, a, b)",
              "a if the condition holds, else b."},
    Signature{F::year, "year", kTime, 1, false, Gives::integer, "year(time, \"zone\")",
              "The year; UTC without a zone."},
    Signature{F::month, "month", kTime, 1, false, Gives::integer, "month(time, \"zone\")",
              "1 to 12."},
    Signature{F::day, "day", kTime, 1, false, Gives::integer, "day(time, \"zone\")",
              "The day of the month."},
    Signature{F::hour, "hour", kTime, 1, false, Gives::integer, "hour(time, \"zone\")", "0 to 23."},
    Signature{F::minute, "minute", kTime, 1, false, Gives::integer, "minute(time, \"zone\")",
              "0 to 59."},
    Signature{F::second, "second", kTime, 1, false, Gives::integer, "second(time, \"zone\")",
              "0 to 59."},
    Signature{F::weekday, "weekday", kTime, 1, false, Gives::integer, "weekday(time, \"zone\")",
              "1 for Monday to 7 for Sunday."},
    Signature{F::date, "date", kTime, 1, false, Gives::text, "date(time, \"zone\")",
              "The day as a string: 2026-03-29."},
    Signature{F::truncate, "truncate", kTimeAndWidth, 2, false, Gives::integer,
              "truncate(time, 1 h, \"zone\")",
              "The beginning of the span of this length that the time lies in. Spans are counted "
              "from a midnight before a Monday on the clocks of the zone."},
    Signature{F::time, "time", kInstant, 1, false, Gives::integer, "time(\"2026-03-29T01:00:00Z\")",
              "An instant in nanoseconds, as `timestamp` is."},
};

char lower_letter(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

}  // namespace

Parameter Signature::at(std::size_t position) const {
  return parameters[std::min(position, parameters.size() - 1)];
}

std::size_t Signature::most() const {
  return repeats ? std::numeric_limits<std::size_t>::max() : parameters.size();
}

std::span<const Signature> catalogue() { return kCatalogue; }

const Signature& signature_of(Function function) {
  return *std::ranges::find(kCatalogue, function, &Signature::function);
}

const Signature* find(std::string_view name) {
  const auto* const known = std::ranges::find_if(kCatalogue, [&](const Signature& signature) {
    return std::ranges::equal(name, signature.name, {}, lower_letter);
  });
  return known == kCatalogue.end() ? nullptr : known;
}

std::vector<std::string> names() {
  std::vector<std::string> all;
  for (const Signature& signature : kCatalogue) all.emplace_back(signature.name);
  return all;
}

}  // namespace gorgo::functions
