#include <algorithm>
#include <utility>

#include "dispatch/placement/placer.hpp"

namespace gorgo::dispatch {

/// Where one of the engines is a device, the one that costs more by itself may still be better when
/// everything is counted.
double Placer::closeness(const engine::Engine& a, const engine::Engine& b) {
  return side_by_side(a, b) ? 2 : 1;
}

/// Notes after a trial which arrangements to attempt: those where costs are close, and those where
/// two engines may be faster than one.
void Placer::consider_attempts(const Trial& trial, const engine::Engine& present) {
  DeployedRule& rule = rules_.rules()[trial.rule];
  Placement& placement = rule.placement;
  if (!heavy_[trial.rule].watch.may_attempt()) return;
  const auto upkeep = [&](const engine::Engine& engine) {
    const auto estimate = placement.at(engine).estimate;
    return estimate ? estimate->upkeep : 0;
  };
  const Comparison& comparison = trial.comparison;
  const double own = on_all_threads(present, comparison.own());
  const double other = on_all_threads(trial.engine, comparison.own() * comparison.ratio());
  const double with_upkeep = own + upkeep(present);
  const double shared = shared_cost(own, other), alone = std::min(own, other);
  const auto both = side_by_side(present, trial.engine);
  const bool divisible = options_.threads > 1 && rule.rule().consuming.empty();
  const bool sharing = both && divisible && shared < options_.gain * alone;
  const bool is_close =
      other + upkeep(trial.engine) < closeness(present, trial.engine) * with_upkeep;
  // A device is attempted alone first: if it does better alone, it must not get a reserve just
  // because both together beat the threads.
  if (&placement.engine() == &present && (is_close || (sharing && both->engine == &trial.engine))) {
    hope_for(trial.rule, {{&trial.engine}, {with_upkeep, other}});
  }
  if (sharing) hope_for(trial.rule, {*both, {alone - shared, 0}});
}

/// Adds a candidate. An earlier one with the same arrangement is out of date and goes.
void Placer::hope_for(std::uint32_t rule, const Candidate& candidate) {
  std::vector<Candidate>& candidates = heavy_[rule].candidates;
  std::erase_if(candidates,
                [&](const Candidate& other) { return other.arrangement == candidate.arrangement; });
  candidates.push_back(candidate);
  std::erase(hopeful_, rule);
  hopeful_.push_back(rule);
}

void Placer::begin_next_attempt() {
  while (!attempt_ && !hopeful_.empty()) {
    const std::uint32_t rule = hopeful_.back();
    hopeful_.pop_back();
    if (rules_.rules()[rule].placement.is_automatic()) begin_attempt(rule);
  }
}

/// Begins an attempt at the next of the candidates. Ends the trials of its rules, because the turns
/// of the attempt would take their evaluators away.
void Placer::begin_attempt(std::uint32_t index) {
  DeployedRule& rule = rules_.rules()[index];
  std::vector<Candidate>& candidates = heavy_[index].candidates;
  attempt_.reset();
  std::erase_if(candidates, [&](const Candidate& candidate) {
    return candidate.arrangement == rule.placement.home();
  });
  if (candidates.empty()) return;
  const Candidate next = candidates.front();
  candidates.erase(candidates.begin());
  if (is_tried(index)) end_trial(index);
  for (const std::uint32_t other : others_) {
    if (is_tried(other)) end_trial(other);
  }
  rule.placement.leave_none();
  attempt_.emplace(index, rule.placement.home(), next.arrangement, next.prospect,
                   rule.state.terminators);
}

void Placer::add_time(double took) {
  took_ += took;
  if (!attempt_) return;
  const DeployedRule& rule = rules_.rules()[attempt_->rule()];
  if (!rule.placement.is_automatic()) return abandon_attempt();
  if (attempt_->turn().engine->is_warming_up()) return attempt_->pass(rule.state.terminators);
  const auto verdict = attempt_->add(took, rule.state.terminators);
  if (verdict == Attempt::Verdict::go_on) return;
  if (verdict == Attempt::Verdict::take_turns) return take_turns();
  end_attempt(verdict);
}

bool Placer::is_attempted(std::uint32_t rule) const {
  return attempt_ &&
         (attempt_->rule() == rule || std::ranges::find(others_, rule) != others_.end());
}

void Placer::take_turns() {
  const auto start = std::chrono::steady_clock::now();
  arrange(rules_.rules()[attempt_->rule()], attempt_->turn());
  for (const std::uint32_t other : others_) {
    DeployedRule& rule = rules_.rules()[other];
    if (!rule.placement.is_automatic()) continue;
    arrange(rule, attempt_->is_away() ? attempt_->turn() : rule.placement.home());
  }
  for (const std::uint32_t other : others_) withdraw_idle(other);
  withdraw_idle(attempt_->rule());
  credit_ -= since(start);
}

/// Ends the attempt because its rule has been pinned.
void Placer::abandon_attempt() {
  for (const std::uint32_t other : others_) {
    DeployedRule& rule = rules_.rules()[other];
    if (rule.placement.is_automatic()) arrange(rule, rule.placement.home());
  }
  attempt_.reset();
  for (const std::uint32_t other : std::exchange(others_, {})) withdraw_idle(other);
}

void Placer::end_attempt(Attempt::Verdict verdict) {
  const std::uint32_t index = attempt_->rule();
  DeployedRule& rule = rules_.rules()[index];
  const bool is_kept = verdict == Attempt::Verdict::keep;
  if (!is_kept) arrange(rule, attempt_->before());
  rule.placement.stay(attempt_->result());
  if (attempt_->has_begun()) heavy_[index].watch.attempted();
  if (others_.empty()) leave_few_after(*attempt_);
  const std::vector<std::uint32_t> others = std::exchange(others_, {});
  for (const std::uint32_t other : others) {
    Placement& placement = rules_.rules()[other].placement;
    if (!placement.is_automatic()) continue;
    if (!is_kept) {
      arrange(rules_.rules()[other], placement.home());
      continue;
    }
    placement.stay(attempt_->result());
    settle_together(other);
  }
  if (is_kept && !others.empty()) settle_together(index);
  if (!is_kept) credit_ -= attempt_->loss();
  const Arrangement before = attempt_->before(), now = rule.placement.home();
  if (now.reserve != nullptr && before.engine != now.engine) {
    // The two engines were better than the threads alone; whether the device alone is better still
    // is open.
    heavy_[index].candidates = {
        {{now.engine}, {rule.placement.post().cost.per_terminator().value_or(0), 0}}};
  }
  begin_attempt(index);
  withdraw_idle(index);
  for (const std::uint32_t other : others) withdraw_idle(other);
}

/// Plans nothing more for a rule that moved together with others: by itself it would go elsewhere,
/// so its trials do not say much.
void Placer::settle_together(std::uint32_t rule) {
  Heavy& heavy = heavy_[rule];
  heavy.candidates.clear();
  heavy.to_try.clear();
  heavy.watch.attempted_together();
}

/// Chooses a reserve for few terminators after an attempt. While arrangements are compared there is
/// none, because it would keep indexes that others do without. Rules that are on a device together
/// have none either, because the few terminators of one of them cost little more there.
void Placer::leave_few_after(const Attempt& attempt) {
  Placement& placement = rules_.rules()[attempt.rule()].placement;
  if (!placement.engine().is_device()) return;
  for (const Arrangement& arrangement : {attempt.before(), attempt.after()}) {
    for (const engine::Engine* engine : {arrangement.engine, arrangement.reserve}) {
      if (engine != nullptr && !engine->is_device()) return leave_few(placement, *engine);
    }
  }
}

void Placer::arrange(DeployedRule& rule, const Arrangement& arrangement) {
  Placement& placement = rule.placement;
  const engine::Engine& before = placement.engine();
  prepare(rule, placement.at(*arrangement.engine));
  if (arrangement.engine != &before) placement.visit(*arrangement.engine);
  placement.leave_none();
  if (arrangement.reserve != nullptr) {
    prepare(rule, placement.at(*arrangement.reserve));
    placement.share_with(*arrangement.reserve, share(placement, *arrangement.reserve));
  } else if (placement.share() > 0) {
    placement.share_with(*placement.reserve().engine, 0);
  }
}

/// The reserve's share of the terminators, by what they cost on each engine alone.
double Placer::share(Placement& placement, const engine::Engine& reserve) const {
  const auto cost = [&](const engine::Engine& engine) {
    return on_all_threads(engine, placement.at(engine).cost.per_terminator().value_or(1));
  };
  const double both = shared_cost(cost(placement.engine()), cost(reserve));
  return both / cost(reserve);
}

void Placer::balance(std::uint32_t rule, double own, double reserve) {
  constexpr double kShare = 0.3;  // weight of the new value
  Placement& placement = rules_.rules()[rule].placement;
  if (placement.share() == 0) return;
  const double even = reserve / (own + reserve);
  placement.share_with(*placement.reserve().engine,
                       placement.share() + kShare * (even - placement.share()));
}

/// Whether the rule's terminators go on being shared. They do while it is worth it, which is tested
/// again from time to time.
bool Placer::is_sharing(std::uint32_t index, bool drifted) {
  constexpr double kLittle = 0.05, kLong = 100e9;
  DeployedRule& rule = rules_.rules()[index];
  Placement& placement = rule.placement;
  const double share = placement.share();
  if (share == 0) return false;
  const bool even = share > kLittle && share < 1 - kLittle;
  const bool goes_on = even && !drifted;
  if (goes_on && (attempt_ || heavy_[index].watch.spent() < kLong)) return true;
  const Arrangement both{&placement.engine(), placement.reserve().engine};
  arrange(rule, {share > 1 - kLittle ? both.reserve : both.engine});
  if (placement.engine().is_device()) leave_few(placement, *both.reserve);
  placement.stay("no longer shared");
  if (goes_on) {
    heavy_[index].candidates = {{both, {placement.post().cost.per_terminator().value_or(0), 0}}};
    begin_attempt(index);
  }
  withdraw_idle(index);
  return goes_on;
}

}  // namespace gorgo::dispatch
