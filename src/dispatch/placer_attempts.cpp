#include <algorithm>
#include <utility>

#include "dispatch/placer.hpp"

namespace gorgo::dispatch {
namespace {

/// An engine that costs no more than so many times the present one may still be the better one,
/// when everything is counted.
constexpr double kClose = 1.25;

}  // namespace

/// After a trial: where costs are close, and where two engines may be faster than one.
void Placer::consider_attempt(const Trial& trial, const engine::Engine& present) {
  DeployedRule& rule = rules_.rules()[trial.rule];
  if (attempt_) return;
  const auto count = static_cast<double>(trial.terminators);
  const double own = on_all_threads(present, trial.own) / count;
  const double other = on_all_threads(trial.engine, trial.other) / count;
  const Arrangement now{&rule.placement.engine()};
  const auto attempt = [&](const Arrangement& after, double hope) {
    attempt_.emplace(trial.rule, now, after, hope, rule.state.terminators);
  };
  const auto both = side_by_side(present, trial.engine);
  const double shared = shared_cost(own, other);
  const bool divisible = options_.threads > 1 && rule.rule().consuming.empty();
  if (both && divisible && shared < options_.gain * std::min(own, other)) {
    return attempt(*both, std::min(own, other) - shared);
  }
  if (now.engine == &present && other < kClose * own) attempt({&trial.engine}, own);
}

void Placer::add_time(double took) {
  if (!attempt_) return;  // the rules have changed meanwhile
  DeployedRule& rule = rules_.rules()[attempt_->rule()];
  Placement& placement = rule.placement;
  if (!placement.is_automatic()) return attempt_.reset();
  const auto verdict = attempt_->add(took, rule.state.terminators);
  if (verdict == Attempt::Verdict::go_on) return;
  if (verdict == Attempt::Verdict::begin) return arrange(rule, attempt_->after());
  const bool undo = verdict == Attempt::Verdict::give_up && attempt_->has_begun();
  if (undo) arrange(rule, attempt_->before());
  placement.set_reason(attempt_->result());
  Watch& watch = watches_[attempt_->rule()];
  watch.judged = placement.post().cost.per_terminator().value_or(0);
  watch.spent = 0;
  attempt_.reset();
}

void Placer::arrange(DeployedRule& rule, const Arrangement& arrangement) {
  Placement& placement = rule.placement;
  const engine::Engine& before = placement.engine();
  prepare(rule, placement.at(*arrangement.engine));
  if (arrangement.engine != &before) {
    placement.move_to(*arrangement.engine, "");
    leave_few(placement, before);
  }
  if (arrangement.reserve != nullptr) {
    prepare(rule, placement.at(*arrangement.reserve));
    leave_few(placement, *arrangement.reserve);
    placement.share_with(*arrangement.reserve, share(placement, *arrangement.reserve));
  } else if (placement.share() > 0) {
    placement.share_with(*placement.reserve().engine, 0);
  }
  withdraw_reserve(placement);
  placement.withdraw_others();
  is_untidy_ = true;
}

/// From what they cost alone.
double Placer::share(Placement& placement, const engine::Engine& reserve) const {
  const auto cost = [&](const engine::Engine& engine) {
    return on_all_threads(engine, placement.at(engine).cost.per_terminator().value_or(1));
  };
  const double both = shared_cost(cost(placement.engine()), cost(reserve));
  return both / cost(reserve);
}

void Placer::balance(std::uint32_t rule, double own, double reserve) {
  constexpr double kShare = 0.3;  // of the new value
  Placement& placement = rules_.rules()[rule].placement;
  if (placement.share() == 0) return;
  const double even = reserve / (own + reserve);
  placement.share_with(*placement.reserve().engine,
                       placement.share() + kShare * (even - placement.share()));
}

/// Whether the rule's terminators go on being shared: for a time, while it is worth it.
bool Placer::is_sharing(DeployedRule& rule, Watch& watch) {
  constexpr double kLittle = 0.05, kLong = 30e9;
  Placement& placement = rule.placement;
  const double share = placement.share();
  if (share == 0) return false;
  const bool even = share > kLittle && share < 1 - kLittle;
  if (even && watch.spent < kLong && !has_drifted(placement, watch)) return true;
  const bool to_reserve = share > 1 - kLittle;
  arrange(rule, {to_reserve ? placement.reserve().engine : &placement.engine()});
  placement.set_reason("no longer shared");
  return false;
}

}  // namespace gorgo::dispatch
