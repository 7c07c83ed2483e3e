#include "dispatch/placement/trial.hpp"

#include <algorithm>
#include <utility>

#include "base/since.hpp"

namespace gorgo::dispatch {
namespace {

/// The most terminators between two looks at the clock; at first it is only one.
constexpr std::size_t kAtATime = 64;
/// A trial waits no longer for what an engine gets ready for all rules.
constexpr std::chrono::seconds kLongestWait{2};
/// An engine that costs less than this part is better, although it is going to be better still.
constexpr double kBetter = 0.8;

}  // namespace

Trial::Trial(const engine::Engine& engine, std::span<const std::uint32_t> numbers,
             const RuleSet& rules)
    : engine_(engine) {
  for (const std::uint32_t number : numbers) {
    members_.push_back({.rule = number, .serial = rules.rule(number).serial, .shadow = {}});
  }
  std::ranges::sort(members_, {}, &Member::rule);
}

Trial::Member& Trial::member(std::uint32_t rule) {
  return *std::ranges::lower_bound(members_, rule, {}, &Member::rule);
}

bool Trial::has_lost_rules(const RuleSet& rules) const {
  return std::ranges::any_of(members_, [&](const Member& member) {
    return rules.number_of(member.serial) != member.rule ||
           !rules.rule(member.rule).placement.is_automatic();
  });
}

bool Trial::is_warming_up() const {
  return engine_.is_warming_up() && Clock::now() - start_ < kLongestWait;
}

/// An engine gets ready what it needs for the rule when it is first asked. If it is not the better
/// one without that, the trial waits for it.
bool Trial::waits() {
  constexpr std::size_t kFew = 3;
  idle_ = 0;
  const bool waits = evaluations_ >= kFew && is_warming_up();
  if (waits) has_caught_up_ = false;
  return waits;
}

double Trial::evaluate(RuleSet& rules, std::span<const Evaluated* const> own, double most,
                       const std::atomic<bool>& stop, unsigned threads) {
  const auto start = Clock::now();
  const engine::Budget budget{.stop = &stop, .threads = threads, .until = start + kLongestPause};
  requests_.clear();
  for (const Evaluated* const of_rule : own) {
    const std::uint32_t number = of_rule->rule;
    Shadow& shadow = member(number).shadow;
    shadow.begin();
    if (!engine_.is_device()) {
      evaluate_some(rules, *of_rule, most, budget);
    } else {
      const EngineEntry& entry = rules.placement(number).at(engine_);
      requests_.push_back(shadow.request(rules.rule(number), entry, of_rule->terminators));
    }
  }
  if (!requests_.empty()) {
    engine_.evaluate(requests_, budget);
    for (std::size_t i = 0; i < own.size(); ++i) member(own[i]->rule).shadow.take(requests_[i]);
  }
  return nanoseconds_since(start);
}

void Trial::evaluate_some(RuleSet& rules, const Evaluated& own, double most,
                          const engine::Budget& budget) {
  const auto start = Clock::now();
  const DeployedRule& rule = rules.rule(own.rule);
  const EngineEntry& entry = rules.placement(own.rule).at(engine_);
  Shadow& shadow = member(own.rule).shadow;
  const auto slots = own.terminators.slots;
  while (shadow.done() < slots.size()) {
    const std::size_t some = std::min({slots.size() - shadow.done(), kAtATime, shadow.done() + 1});
    engine::Request request =
        shadow.request(rule, entry, {slots.subspan(shadow.done(), some), own.terminators.in_order});
    engine_.evaluate({&request, 1}, budget);
    shadow.take(request);
    if (request.done == 0 && !budget.stopped()) gave_up_ = true;
    if (request.done == 0 || nanoseconds_since(start) >= most) return;
  }
}

/// Counts what the engine took without an outcome as the cost of a terminator, which is the least
/// that its first one costs.
void Trial::count_without_outcome(const Evaluated& own, double took, double wall) {
  const auto all = static_cast<double>(own.terminators.slots.size());
  Member& member = this->member(own.rule);
  member.terminators = 1;
  member.own = wall / all;
  comparison_ = {};
  comparison_.add(1, member.own, took);
}

/// An evaluation takes longer while the engine catches up or is not ready yet, so such an
/// evaluation counts only where it is much faster nevertheless.
bool Trial::compare(const RuleSet& rules, std::span<const Evaluated* const> own, double took,
                    const Parallelism& parallelism) {
  Comparison alone;
  std::uint64_t terminators = 0;
  double before = 0;
  if (gave_up_) {
    const Evaluated& only = *own.front();
    const engine::Engine& engine = rules.rule(only.rule).placement.engine();
    count_without_outcome(only, took, parallelism.wall(engine, only.took));
    return true;
  }
  for (const Evaluated* const of_rule : own) {
    Member& member = this->member(of_rule->rule);
    const auto all = static_cast<double>(of_rule->terminators.slots.size());
    const double part = static_cast<double>(member.shadow.done()) / all;
    const engine::Engine& engine = rules.rule(of_rule->rule).placement.engine();
    const double wall = parallelism.wall(engine, of_rule->took) * part;
    member.terminators += member.shadow.done();
    member.own += wall;
    terminators += member.shadow.done();
    before += wall;
  }
  if (terminators == 0) return false;
  const double other = parallelism.wall(engine_, took);
  alone.add(terminators, before, other);
  ++evaluations_;
  const bool has_caught_up = std::exchange(has_caught_up_, true);
  const bool counts = has_caught_up && !is_warming_up();
  if (!counts) {
    const bool is_better = has_caught_up ? alone.ratio() < kBetter : alone.is_surely_better(1);
    if (!is_better) return false;
    comparison_ = {};
  }
  comparison_.add(terminators, before, other);
  return !counts || comparison_.is_enough(1);
}

}  // namespace gorgo::dispatch
