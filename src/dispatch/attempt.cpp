#include "dispatch/attempt.hpp"

#include "base/time_text.hpp"

namespace gorgo::dispatch {
namespace {

// Of the time of everything:
constexpr double kWorthKeeping = 0.92;  ///< what is less better is noise
constexpr double kWorthTrying = 0.15;   ///< of what is hoped for, not all comes
/// Steps, after which a rule that has become quiet is left alone.
constexpr std::size_t kPatience = 1 << 12;

}  // namespace

std::string Arrangement::to_string() const {
  const std::string name(engine->name());
  return reserve == nullptr ? name : name + " and " + std::string(reserve->name());
}

std::optional<Arrangement> side_by_side(const engine::Engine& a, const engine::Engine& b) {
  const auto is_device = [](const engine::Engine& engine) { return engine.fixed_cost() > 0; };
  if (is_device(a) && b.divides_terminators()) return Arrangement{&a, &b};
  if (is_device(b) && a.divides_terminators()) return Arrangement{&b, &a};
  return std::nullopt;
}

bool Attempt::Stretch::is_enough() const {
  constexpr double kTime = 20e6;
  constexpr std::size_t kSteps = 8;
  return took > kTime && steps >= kSteps && terminators > 0;
}

Attempt::Verdict Attempt::add(double took, std::uint64_t terminators) {
  constexpr std::size_t kUncounted = 2;  // in which evaluators catch up, and shares find themselves
  Stretch& stretch = begun_ ? with_ : without_;
  const std::uint64_t more = terminators - seen_;
  seen_ = terminators;
  if (stretch.steps++ >= kUncounted) {
    stretch.took += took;
    stretch.terminators += more;
  }
  if (stretch.steps > kPatience) return Verdict::give_up;
  if (!stretch.is_enough()) return Verdict::go_on;
  if (begun_) return is_better() ? Verdict::keep : Verdict::give_up;
  begun_ = hope_ > kWorthTrying * without_.each();
  return begun_ ? Verdict::begin : Verdict::give_up;
}

bool Attempt::is_better() const { return with_.each() < kWorthKeeping * without_.each(); }

std::string Attempt::result() const {
  const std::string before = time_text(without_.each()) + " a terminator with all that happens";
  if (with_.terminators == 0) {
    return before + " under " + before_.to_string() + ", of which " + after_.to_string() +
           " could save " + time_text(hope_);
  }
  return before + " under " + before_.to_string() + ", " + time_text(with_.each()) + " under " +
         after_.to_string();
}

}  // namespace gorgo::dispatch
