#include "dispatch/placement/moves.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/time_text.hpp"

namespace gorgo::dispatch {

std::optional<Arrangement> side_by_side(const engine::Engine& a, const engine::Engine& b) {
  if (a.is_device() && b.divides_terminators()) return Arrangement{&a, &b};
  if (b.is_device() && a.divides_terminators()) return Arrangement{&b, &a};
  return std::nullopt;
}

void Moves::prepare(std::uint32_t number, EngineEntry& entry) {
  if (!entry.evaluators.empty()) return;
  const DeployedRule& rule = rules_.rule(number);
  entry.evaluators.push_back(entry.engine->prepare(rule.plan, history_));
  entry.note_upkeep(rule.state.terminators);
}

void Moves::arrange(std::uint32_t number, const Arrangement& arrangement, std::string reason) {
  Placement& placement = this->placement(number);
  prepare(number, placement.at(*arrangement.engine));
  placement.move_to(*arrangement.engine, std::move(reason));
  if (arrangement.reserve == nullptr) return;
  const auto cost = [&](const engine::Engine& engine) {
    return parallelism_.wall(engine, placement.at(engine).cost.per_terminator().value_or(1));
  };
  prepare(number, placement.at(*arrangement.reserve));
  const double own = cost(*arrangement.engine), reserve = cost(*arrangement.reserve);
  placement.share_with(*arrangement.reserve, shared_cost(own, reserve) / reserve);
}

void Moves::withdraw_idle(std::uint32_t number) {
  placement(number).withdraw_others();
  is_untidy_ = true;
}

void Moves::tidy() {
  if (std::exchange(is_untidy_, false)) history_.trim();
}

void Moves::go(std::vector<Rule> rules, const Arrangement& after, const std::string& reason) {
  Move& move = moves_.emplace_back();
  move.after = after;
  move.rules = std::move(rules);
  for (const Rule& rule : move.rules) {
    moving_[rule.number] = &move;
    arrange(rule.number, after, reason);
    withdraw_idle(rule.number);
  }
}

void Moves::watch(std::uint32_t number, const Placement::Spent& spent) {
  Move& move = *moving_.at(number);
  if (move.after.engine->is_warming_up()) return move.probation.begin_anew();
  const auto known = std::ranges::find(move.rules, number, &Rule::number);
  const Placement& placement = this->placement(number);
  const double upkeep = upkeep_of(placement.entry()) +
                        (move.after.reserve == nullptr ? 0 : upkeep_of(placement.reserve()));
  move.probation.add(spent.terminators * known->cost,
                     spent.nanoseconds + spent.terminators * upkeep);
}

std::vector<Moves::Ended> Moves::settle() {
  std::vector<Ended> all;
  for (auto move = moves_.begin(); move != moves_.end();) {
    const auto verdict = move->probation.look();
    const auto next = std::next(move);
    if (verdict != Probation::Verdict::go_on) {
      all.push_back(end(*move, verdict));
      for (const Rule& rule : move->rules) moving_.erase(rule.number);
      moves_.erase(move);
    }
    move = next;
  }
  return all;
}

Moves::Ended Moves::end(const Move& move, Probation::Verdict verdict) {
  const bool kept = verdict == Probation::Verdict::stay;
  const bool is_shared = move.after.reserve != nullptr;
  Ended ended{.rules = move.rules,
              .worse = {},
              .kept = kept,
              .loss = move.probation.loss(),
              .ratio = move.probation.ratio()};
  const engine::Engine* const before = move.rules.front().before.engine;
  const engine::Engine* const added =
      is_shared && before == move.after.engine ? move.after.reserve : move.after.engine;
  if (!kept) ended.worse = added->name();
  if (kept && !is_shared) ended.worse = before->name();
  for (const Rule& rule : move.rules) {
    Placement& placement = this->placement(rule.number);
    if (!placement.is_automatic()) continue;
    if (!kept) {
      arrange(rule.number, rule.before,
              "it took " + time_text(rule.cost * move.probation.ratio()) + " a terminator under " +
                  move.after.to_string() + ", " + time_text(rule.cost) + " before");
    } else if (move.rules.size() == 1 && !is_shared) {
      leave_few(rule.number, *rule.before.engine);
    }
    withdraw_idle(rule.number);
  }
  return ended;
}

void Moves::catch_up_with_changes() {
  moving_.clear();
  for (Move& move : moves_) {
    std::erase_if(move.rules, [&](Rule& rule) { return !has_stayed(rule, move.after); });
    for (const Rule& rule : move.rules) moving_[rule.number] = &move;
  }
  moves_.remove_if([](const Move& move) { return move.rules.empty(); });
}

/// Finds the rule by its serial. Returns whether it is where it has moved.
bool Moves::has_stayed(Rule& rule, const Arrangement& after) {
  const auto number = rules_.number_of(rule.serial);
  if (!number) return false;
  rule.number = *number;
  return placement(*number).is_automatic() && placement(*number).arrangement() == after;
}

/// Has few terminators at a time go to the reserve, if the engine is a device, which has a fixed
/// cost for any number.
void Moves::leave_few(std::uint32_t number, const engine::Engine& reserve) {
  constexpr double kMuchFewer = 2;
  Placement& placement = this->placement(number);
  const double each =
      parallelism_.wall(reserve, placement.at(reserve).cost.per_terminator().value_or(0));
  const double few = each > 0 ? placement.engine().fixed_cost() / each : 0;
  // Where batches are seldom much smaller than that, keeping another engine prepared costs more
  // than it gives.
  if (few < kMuchFewer * placement.small_batch()) return placement.leave_none();
  prepare(number, placement.at(reserve));
  placement.leave_few_to(reserve, static_cast<std::size_t>(few));
}

void Moves::withdraw_reserve(std::uint32_t number) {
  Placement& placement = this->placement(number);
  if (placement.few() == 0) return;
  leave_few(number, *placement.reserve().engine);
  if (placement.few() == 0) withdraw_idle(number);
}

void Moves::balance(std::uint32_t number, double own, double reserve) {
  constexpr double kShare = 0.3;  // weight of the new value
  Placement& placement = this->placement(number);
  if (placement.share() == 0) return;
  const double even = reserve / (own + reserve);
  placement.share_with(*placement.reserve().engine,
                       placement.share() + kShare * (even - placement.share()));
}

bool Moves::goes_on_sharing(std::uint32_t number, bool drifted) {
  constexpr double kLittle = 0.05;
  const Placement& placement = this->placement(number);
  const double share = placement.share();
  if (!drifted && share > kLittle && share < 1 - kLittle) return true;
  const Arrangement both = placement.arrangement();
  arrange(number, {share > 1 - kLittle ? both.reserve : both.engine}, "no longer shared");
  withdraw_idle(number);
  return false;
}

}  // namespace gorgo::dispatch
