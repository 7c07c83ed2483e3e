#include "dispatch/sharing.hpp"

#include "base/time_text.hpp"

namespace gorgo::dispatch {
namespace {

/// Of the time of everything, with sharing: what is less than that much better is noise.
constexpr double kWorthKeeping = 0.95;
/// Of the time of everything: of what is hoped for, not all comes.
constexpr double kWorthTrying = 0.15;

/// Steps, after which a rule that has become quiet is left alone.
constexpr std::size_t kPatience = 1 << 12;

}  // namespace

std::optional<Pair> pair_of(const engine::Engine& a, const engine::Engine& b) {
  const auto is_device = [](const engine::Engine& engine) { return engine.fixed_cost() > 0; };
  if (is_device(a) && b.divides_terminators()) return Pair{&a, &b};
  if (is_device(b) && a.divides_terminators()) return Pair{&b, &a};
  return std::nullopt;
}

double shared_cost(double device, double thread, double threads) {
  return 1 / (1 / device + threads / thread);
}

double share_of_threads(double device, double thread, double threads) {
  return shared_cost(device, thread, threads) * threads / thread;
}

bool SharingAttempt::Stretch::is_enough() const {
  constexpr double kTime = 10e6;
  constexpr std::size_t kSteps = 8;
  return took > kTime && steps >= kSteps && terminators > 0;
}

SharingAttempt::Verdict SharingAttempt::add(double took, std::uint64_t terminators) {
  Stretch& stretch = begun_ ? with_ : without_;
  const std::uint64_t more = terminators - seen_;
  seen_ = terminators;
  // The first step has to catch up.
  if (stretch.steps++ > 0) {
    stretch.took += took;
    stretch.terminators += more;
  }
  if (stretch.steps > kPatience) return Verdict::give_up;
  if (!stretch.is_enough()) return Verdict::go_on;
  if (!begun_) {
    begun_ = gain_ > kWorthTrying * without_.each();
    return begun_ ? Verdict::begin : Verdict::give_up;
  }
  return with_.each() < kWorthKeeping * without_.each() ? Verdict::keep : Verdict::give_up;
}

std::string SharingAttempt::result() const {
  const std::string pair = "shared by " + std::string(pair_.device->name()) + " and " +
                           std::string(pair_.threads->name());
  if (with_.terminators == 0) {
    return "not " + pair + ": a terminator takes " + time_text(without_.each()) +
           " with all that happens meanwhile, of which sharing would save " + time_text(gain_);
  }
  const bool kept = with_.each() < kWorthKeeping * without_.each();
  return (kept ? "" : "not ") + pair + ": " + time_text(with_.each()) + " a terminator against " +
         time_text(without_.each()) + " alone, with all that happened meanwhile";
}

}  // namespace gorgo::dispatch
