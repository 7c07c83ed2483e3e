#include "dispatch/placement/attempt.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include "base/time_text.hpp"

namespace gorgo::dispatch {
namespace {

/// An attempt must promise to save this part of the time of everything, because only some of what
/// is hoped for comes true.
constexpr double kWorthTrying = 0.15;
/// Both are logarithms of what the other arrangement takes as a part of what the present one takes.
/// A mean above `kBetter` is not worth a move. `kNoise` is how much turns are taken to vary by
/// noise alone before any turn is known.
constexpr double kBetter = -0.03, kNoise = 0.1;
/// How many standard errors the mean must be away from `kBetter` for the other arrangement to be
/// kept or given up. Simulations show: where both arrangements are alike, none of 20 000 attempts
/// is kept with turns that vary by 3 %, 4 % of them with 8 % and 19 % with 15 %, which costs
/// nothing but the move. An arrangement that is better by 10 % is kept in 98 % of the attempts with
/// 8 %, in 81 % with 15 %.
constexpr double kSure = 2, kHopeless = 1;
/// After so many turns either arrangement will do, and the one that seems better is taken.
constexpr unsigned kMostTurns = 24;
/// The first steps of a stretch do not count: so many, or fewer if one of them takes long.
constexpr std::size_t kUncounted = 2;
constexpr double kLongStep = 50e6;  ///< nanoseconds
/// The most steps of a stretch: a rule that takes more has become quiet and is left alone.
constexpr std::size_t kPatience = 1 << 12;

}  // namespace

std::optional<Arrangement> side_by_side(const engine::Engine& a, const engine::Engine& b) {
  if (a.is_device() && b.divides_terminators()) return Arrangement{&a, &b};
  if (b.is_device() && a.divides_terminators()) return Arrangement{&b, &a};
  return std::nullopt;
}

bool Attempt::Stretch::is_enough() const {
  constexpr double kTime = 4e6, kLong = 100e6;  // nanoseconds
  constexpr std::size_t kSteps = 5;
  if (steps.empty() || steps.back().terminators == 0) return false;
  return took > kLong || (took > kTime && steps.size() >= kSteps);
}

Attempt::Total Attempt::Stretch::typical() const {
  constexpr std::size_t kOf = 5;  // one in so many is left out
  std::vector<Total> sorted = steps;
  std::ranges::sort(sorted, {}, &Total::each);
  Total total;
  for (const Total& step : std::span(sorted).first(sorted.size() - sorted.size() / kOf)) {
    total.add(step);
  }
  return total;
}

Attempt::Verdict Attempt::add(double took, std::uint64_t terminators) {
  const std::uint64_t more = terminators - seen_;
  seen_ = terminators;
  if (is_after_) away_.add({took, more});
  if (now_.is_counted) {
    if (now_.steps.empty() || now_.steps.back().terminators > 0) now_.steps.emplace_back();
    now_.steps.back().add({took, more});
    now_.took += took;
  } else {
    // In these steps evaluators catch up and shares settle.
    now_.is_counted = ++now_.uncounted == kUncounted || took > kLongStep;
  }
  if (++now_.all > kPatience) return Verdict::give_up;
  return now_.is_enough() ? end_of_stretch() : Verdict::go_on;
}

void Attempt::pass(std::uint64_t terminators) {
  seen_ = terminators;
  now_ = {};
}

Attempt::Verdict Attempt::end_of_stretch() {
  const Total done = std::exchange(now_, {}).typical();
  const double before = std::exchange(last_, done.each());
  const bool was_after = std::exchange(is_after_, !is_after_);
  (was_after ? with_ : without_).add(done);
  if (!was_after) {
    has_begun_ |= hope() > kWorthTrying * last_;
    return has_begun_ ? Verdict::take_turns : Verdict::give_up;
  }
  turns_.add(std::log(last_ / before));
  const double mean = turns_.mean(), error = turns_.error();
  if (mean + kSure * error < kBetter) return Verdict::keep;
  if (mean - kHopeless * error > kBetter) return Verdict::give_up;
  if (turns_.count < kMostTurns) return Verdict::take_turns;
  return mean < kBetter ? Verdict::keep : Verdict::give_up;
}

/// Limits the ratio, so that a turn that is slow for whatever reason says no more than any other
/// clear one.
void Attempt::Turns::add(double ratio) {
  constexpr double kMost = 0.5;
  ratio = std::clamp(ratio, -kMost, kMost);
  ++count;
  sum += ratio;
  squares += ratio * ratio;
}

/// The variance is taken as if one more turn had deviated by `kNoise`.
double Attempt::Turns::error() const {
  const double variance = (kNoise * kNoise + squares - sum * mean()) / count;
  return std::sqrt(std::max(0.0, variance) / count);
}

double Attempt::hope() const {
  return std::clamp(without_.each() - prospect_.least, 0.0, prospect_.hope);
}

double Attempt::loss() const {
  return std::max(0.0, away_.took - without_.each() * static_cast<double>(away_.terminators));
}

std::string Attempt::result() const {
  const std::string before = time_text(without_.each()) + " a terminator with all that happens";
  if (with_.terminators == 0) {
    return before + " under " + before_.to_string() + ", of which " + after_.to_string() +
           " could save " + time_text(hope());
  }
  return before + " under " + before_.to_string() + ", " + time_text(with_.each()) + " under " +
         after_.to_string();
}

}  // namespace gorgo::dispatch
