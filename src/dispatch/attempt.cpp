#include "dispatch/attempt.hpp"

#include <algorithm>
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
  constexpr double kTime = 10e6;
  return took > kTime && terminators > 0;
}

void Attempt::Stretch::add(const Stretch& other) {
  took += other.took;
  terminators += other.terminators;
  steps += other.steps;
}

Attempt::Verdict Attempt::add(double took, std::uint64_t terminators) {
  const std::uint64_t more = terminators - seen_;
  seen_ = terminators;
  ++now_.steps;
  if (now_.is_counted) {
    now_.took += took;
    now_.terminators += more;
  } else {
    // Evaluators catch up, and shares find themselves.
    now_.is_counted = now_.steps == kUncounted || took > kLongStep;
  }
  if (now_.steps > kPatience) return Verdict::give_up;
  return now_.is_enough() ? end_of_stretch() : Verdict::go_on;
}

Attempt::Verdict Attempt::end_of_stretch() {
  const Stretch done = std::exchange(now_, {});
  const double before = std::exchange(last_, done.each());
  const bool was_after = std::exchange(is_after_, !is_after_);
  (was_after ? with_ : without_).add(done);
  if (!was_after) {
    has_begun_ |= hope() > kWorthTrying * last_;
    return has_begun_ ? Verdict::take_turns : Verdict::give_up;
  }
  ahead_ += last_ < prospect_.worth * before ? 1 : -1;
  if (ahead_ < 0) return Verdict::give_up;
  return ahead_ == kAhead ? Verdict::keep : Verdict::take_turns;
}

double Attempt::hope() const {
  return std::clamp(without_.each() - prospect_.least, 0.0, prospect_.hope);
}

double Attempt::loss() const {
  return std::max(0.0, (with_.each() - without_.each()) * static_cast<double>(with_.terminators));
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
