#include "dispatch/attempt.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include "base/time_text.hpp"

namespace gorgo::dispatch {
namespace {

/// The part of the time of everything that must be hoped for: not all of it comes.
constexpr double kWorthTrying = 0.15;
/// Times that the other one was better, less those that it was not. Where both are alike and noise
/// has one turn in three seem that much better, one attempt in 15 is kept; where four turns in five
/// are better, three in four are (the gambler's ruin).
constexpr int kAhead = 3;
/// After so many the two are about the same.
constexpr int kMostTurns = 24;
/// Steps of a stretch that do not count, or one that takes long.
constexpr std::size_t kUncounted = 2;
constexpr double kLongStep = 50e6;  ///< nanoseconds
/// Steps, after which a rule that has become quiet is left alone.
constexpr std::size_t kPatience = 1 << 12;

}  // namespace

std::optional<Arrangement> side_by_side(const engine::Engine& a, const engine::Engine& b) {
  const auto is_device = [](const engine::Engine& engine) { return engine.fixed_cost() > 0; };
  if (is_device(a) && b.divides_terminators()) return Arrangement{&a, &b};
  if (is_device(b) && a.divides_terminators()) return Arrangement{&b, &a};
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
    // Evaluators catch up, and shares find themselves.
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
  ahead_ += steps_ahead(before, last_);
  if (ahead_ < 0 || ++turns_ == kMostTurns) return Verdict::give_up;
  return ahead_ >= kAhead ? Verdict::keep : Verdict::take_turns;
}

/// A turn is better that takes less than this part; what lies between says nothing.
int Attempt::steps_ahead(double before, double after) {
  constexpr double kBetter = 0.92, kMuchBetter = 0.8, kSurely = 0.65, kWorse = 0.96;
  if (after >= kWorse * before) return -1;
  if (after >= kBetter * before) return 0;
  if (after >= kMuchBetter * before) return 1;
  return after >= kSurely * before ? 2 : kAhead;
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
