#include "dispatch/placement/placer.hpp"

#include <algorithm>
#include <chrono>
#include <functional>
#include <utility>

#include "base/since.hpp"
#include "base/time_text.hpp"
#include "dispatch/placement/alarm_report.hpp"

namespace gorgo::dispatch {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kMillisecond = 1e6;  // in nanoseconds, as all times here
constexpr double kMostCredit = 50 * kMillisecond;
/// One long trial must not keep others from being made for longer than half a second.
constexpr double kMostDebt = 10 * kMillisecond;
/// For so long, trials have more of the time: a rule on a slow engine should not stay there.
constexpr double kEager = 500 * kMillisecond;
constexpr double kEagerly = 5;  // times as much
/// A single evaluation in a trial gets a limit between `kShortestTry` and `kLongestTry`; between
/// these two, it is `kMuchLonger` times what the present engine took.
constexpr double kLongestTry = 10 * kMillisecond, kShortestTry = kMillisecond, kMuchLonger = 4;
/// What is measured to take so many times as long is not tried again soon.
constexpr double kClearly = 2;
/// The most trials at a time: each has one more engine take in what the rule reads.
constexpr std::size_t kMostTrials = 64;
constexpr double kLonger = 2, kLongestIntervalTogether = 10e9;

std::uint64_t mixed(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15U;  // splitmix64
  x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27U)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31U);
}

}  // namespace

Routing Placer::place(std::uint32_t number, std::size_t terminators) {
  Placement& placement = this->placement(number);
  if (options_.shuffle != 0 && placement.is_automatic()) return at_random(number, terminators);
  if (is_tried(number)) {
    Trial& trial = *tried_.at(number);
    const auto start = Clock::now();
    const bool remembered = trial.member(number).shadow.remember(rule(number));
    credit_ -= nanoseconds_since(start);
    if (!remembered) end_trial(trial);
  }
  return placement.route(terminators);
}

std::uint64_t Placer::draw() { return mixed(options_.shuffle + ++draws_); }

Routing Placer::at_random(std::uint32_t number, std::size_t terminators) {
  Placement& placement = this->placement(number);
  const auto engines = engine::engines();
  const engine::Engine& engine = *engines[draw() % engines.size()];
  const engine::Engine& other = *engines[draw() % engines.size()];
  moves_.prepare(number, placement.at(engine));
  placement.move_to(engine, "at random");
  if (draw() % 2 == 0) placement.withdraw_others();
  const bool shared = !rule(number).rule().is_sequential() && &other != &engine && terminators > 1;
  if (!shared) return {.entry = &placement.entry(), .own = terminators};
  EngineEntry& reserve = placement.at(other);
  moves_.prepare(number, reserve);
  return {&placement.entry(), 1 + draw() % (terminators - 1), &reserve};
}

void Placer::observe(std::uint32_t number, EngineEntry& entry, std::uint64_t terminators,
                     double nanoseconds) {
  entry.cost.add(terminators, nanoseconds);
  Placement& placement = this->placement(number);
  // There is nothing to decide about a rule that is pinned, and nothing to learn from no
  // terminators.
  if (!placement.is_automatic() || terminators == 0) return;
  const double others = terminators < Placement::kMany ? Placement::kMany : 1;  // for untimed ones
  // Where two engines share terminators, both are at work at the same time.
  const double each = placement.share() > 0 ? 0.5 : 1;
  const Placement::Spent now{
      .nanoseconds = others * each * parallelism_.wall(*entry.engine, nanoseconds),
      .terminators = others * static_cast<double>(terminators)};
  const auto spent = placement.spend(now);
  if (moves_.is_on_probation(number)) moves_.watch(number, now);
  if (!spent) return;
  placement.entry().note_upkeep(rule(number).state.terminators);
  Heavy& heavy = this->heavy(number);
  if (moves_.is_on_probation(number)) return;
  const double cost = spent->nanoseconds / spent->terminators;
  const bool drifted =
      heavy.policy.look(spent->nanoseconds, cost + upkeep_of(placement.entry()), placement.batch());
  if (drifted) together_ = {};
  if (placement.share() > 0 && moves_.goes_on_sharing(number, drifted)) return;
  const std::uint64_t serial = rule(number).serial;
  if (std::ranges::find(due_, serial) == due_.end()) due_.push_back(serial);
}

/// Trials have a part of all time.
void Placer::earn() {
  const double took = std::exchange(took_, 0);
  elapsed_ += took;
  together_.spent += took;
  together_.policy.pass(took);
  const double part = options_.exploration * (elapsed_ < kEager ? kEagerly : 1);
  credit_ = std::clamp(credit_ + part * took, -kMostDebt, kMostCredit);
  pause_ = 0;
}

void Placer::settle(Timestamp clock) {
  earn();
  if (generation_ != rules_.generation()) catch_up_with_changes();
  end_trials([](Trial& trial) { return trial.is_quiet(); });
  for (const Moves::Ended& ended : moves_.settle()) note(ended);
  moves_.tidy();
  if (options_.shuffle != 0) return;
  while (credit_ >= 0 && !due_.empty() && trials_.size() < kMostTrials) {
    const auto number = rules_.number_of(due_.back());
    const bool is_free = number && !is_tried(*number) && !moves_.is_on_probation(*number);
    if (is_free && !consider(*number, clock)) break;
    due_.pop_back();
  }
  const bool is_time = !heavy_.empty() && together_.spent > together_.interval;
  if (is_time && credit_ >= 0 && !is_trying()) consider_together(clock);
}

/// Forgets what was known of rules that have gone or were pinned. What is known of the others
/// stays, because the costs of a rule are its own.
void Placer::catch_up_with_changes() {
  generation_ = rules_.generation();
  end_trials([this](const Trial& trial) { return trial.has_lost_rules(rules_); });
  moves_.catch_up_with_changes();
  together_ = {};  // is about a set of rules that is another one
  prospects_.catch_up_with_changes();
  std::erase_if(heavy_, [this](const auto& heavy) {
    const auto number = rules_.number_of(heavy.first);
    return !number || !placement(*number).is_automatic();
  });
}

/// Begins a trial of the rule if one is due. False: there is not enough time for it yet.
bool Placer::consider(std::uint32_t number, Timestamp clock) {
  Heavy& heavy = this->heavy(number);
  Placement& placement = this->placement(number);
  if (!placement.is_automatic()) return true;
  if (heavy.to_try.empty()) {
    if (!heavy.policy.is_due()) return true;
    moves_.withdraw_reserve(number);
    heavy.to_try = prospects_.for_rule(
        number, clock, [&](std::string_view engine) { return heavy.policy.may_try(engine); });
    // An engine that is getting ready is tried as soon as it is.
    if (heavy.to_try.empty() && prospects_.are_engines_ready()) heavy.policy.passed();
    if (heavy.to_try.empty()) return true;
  }
  const engine::Engine& engine = *heavy.to_try.back();
  if (prospects_.trial_of(number, engine) > credit_) return false;
  heavy.to_try.pop_back();
  begin_trial(engine, {&number, 1});
  return true;
}

/// Looks for rules to try on a device together. One rule alone may have nothing to win there where
/// all have: the device has its fixed cost once for all of them, and an index is kept as long as
/// one of them uses it.
void Placer::consider_together(Timestamp clock) {
  together_.spent = 0;
  together_.interval = std::min(kLonger * together_.interval, kLongestIntervalTogether);
  for (const std::string_view name : options_.choices) {
    const engine::Engine& engine = *engine::find_engine(name);
    if (!engine.is_device() || !engine.is_ready() || !together_.policy.may_try(name)) continue;
    const auto rules = prospects_.for_device(
        engine, clock, [&](std::uint32_t number) { return moves_.is_on_probation(number); });
    if (rules.size() > 1) return begin_trial(engine, rules);
  }
}

void Placer::begin_trial(const engine::Engine& engine, std::span<const std::uint32_t> rules) {
  const auto start = Clock::now();
  for (const std::uint32_t number : rules) {
    moves_.prepare(number, placement(number).at(engine));
  }
  Trial& trial = trials_.emplace_back(engine, rules, rules_);
  for (const std::uint32_t number : rules) tried_[number] = &trial;
  trial.charge(nanoseconds_since(start));
  credit_ -= trial.spent();
}

void Placer::try_elsewhere(std::span<const Evaluated> evaluated) {
  std::vector<std::pair<Trial*, Own>> all;
  for (const Evaluated& own : evaluated) {
    if (!is_tried(own.rule) || own.terminators.slots.empty()) continue;
    Trial* const trial = tried_.at(own.rule);
    const auto known = std::ranges::find(all, trial, &std::pair<Trial*, Own>::first);
    if (known == all.end()) {
      all.push_back({trial, {&own}});
    } else {
      known->second.push_back(&own);
    }
  }
  for (const auto& [trial, own] : all) {
    if (pause_ > Prospects::kLongestPause) return;
    if (try_elsewhere(*trial, own)) end_trial(*trial);
  }
}

/// Returns whether the trial is over.
bool Placer::try_elsewhere(Trial& trial, const Own& own) {
  if (trial.waits()) return false;
  double present = 0;
  for (const Evaluated* const of_rule : own) {
    present += parallelism_.wall(placement(of_rule->rule).engine(), of_rule->took);
  }
  const double most = std::clamp(kMuchLonger * present, kShortestTry, kLongestTry);
  const double took = trial.evaluate(rules_, own, most, stop_, options_.threads);
  trial.charge(took);
  credit_ -= took;
  pause_ += took;
  if (!trial.is_of_several()) {
    const Trial::Member& only = trial.members().front();
    placement(only.rule).at(trial.engine()).cost.add(only.shadow.done(), took);
  }
  if (stop_.load(std::memory_order_relaxed) || find_difference(trial, own)) return true;
  if (!trial.compare(rules_, own, took, parallelism_)) return false;
  judge(trial);
  return true;
}

bool Placer::find_difference(Trial& trial, const Own& own) {
  for (const Evaluated* const of_rule : own) {
    const Shadow& shadow = trial.member(of_rule->rule).shadow;
    const auto difference =
        shadow.difference(rule(of_rule->rule), rules_.schema(),
                          of_rule->terminators.slots.first(shadow.done()), of_rule->outcome);
    if (!difference) continue;
    raise_alarm(of_rule->rule, trial.engine(), *difference);
    return true;
  }
  return false;
}

/// Whether rules run on the device, so that one more does not make it dearer by its fixed cost.
bool Placer::is_in_use(const engine::Engine& device) const {
  bool is_used = false;
  rules_.for_each(0, rules_.size(), [&](const DeployedRule& rule) {
    is_used = is_used || &rule.placement.engine() == &device;
  });
  return is_used;
}

/// Compares what the rules cost on their engines and on the one that was tried, upkeep and all.
void Placer::judge(Trial& trial) {
  const Comparison& comparison = trial.comparison();
  Found own{.evaluation = comparison.own()};
  Found other{.evaluation = comparison.own() * comparison.ratio()};
  if (trial.engine().is_device() && is_in_use(trial.engine())) {
    other.evaluation -=
        std::min(other.evaluation / 2, trial.engine().fixed_cost() / comparison.batch());
  }
  double all = 0;
  for (const auto& member : trial.members()) all += static_cast<double>(member.terminators);
  for (const auto& member : trial.members()) {
    Placement& placement = this->placement(member.rule);
    EngineEntry& there = placement.at(trial.engine());
    there.note_upkeep(rule(member.rule).state.terminators);
    const double part = static_cast<double>(member.terminators) / all;
    own.upkeep += part * upkeep_of(placement.entry());
    other.upkeep += part * upkeep_of(there);
  }
  if (!trial.is_of_several()) {
    judge_alone(trial, own, other);
  } else if (together_.policy.is_worth(other.all() / own.all())) {
    go(trial, {&trial.engine()},
       time_text(other.all()) + " a terminator together, " + time_text(own.all()) + " before");
  } else {
    together_.policy.tried(other.all() > kClearly * own.all());
  }
}

void Placer::judge_alone(Trial& trial, const Found& own, const Found& other) {
  const std::uint32_t number = trial.members().front().rule;
  Placement& placement = this->placement(number);
  const std::string costs = time_text(other.all()) + " a terminator under " +
                            std::string(trial.engine().name()) + ", " + time_text(own.all()) +
                            " under " + std::string(placement.engine().name());
  Heavy& heavy = this->heavy(number);
  heavy.is_clear &= other.all() > kClearly * own.all();
  if (heavy.policy.is_worth(other.all() / own.all())) return go(trial, {&trial.engine()}, costs);
  const Candidate candidate{.engine = &trial.engine(), .cost = other};
  if (share_with(number, candidate, own)) {
    credit_ += trial.spent();  // a trial that leads to a move is no waste
    return;
  }
  placement.set_reason(costs);
  if (heavy.to_try.empty()) heavy.policy.tried(std::exchange(heavy.is_clear, true));
}

/// Has a device and the threads share the rule's terminators where that promises much, on
/// probation. Both keep what they search up to date then. `own`: what the engine alone costs on
/// which the rule is, to which it goes back unless sharing proves better. That has to be what the
/// engine cost while it had the rule, because a trial can overstate what a device costs.
bool Placer::share_with(std::uint32_t number, const Candidate& other, const Found& own) {
  const Placement& placement = this->placement(number);
  const auto both = side_by_side(placement.engine(), *other.engine);
  const bool divisible = options_.threads > 1 && !rule(number).rule().is_sequential();
  if (!both || !divisible || placement.share() > 0) return false;
  const double shared =
      shared_cost(own.evaluation, other.cost.evaluation) + own.upkeep + other.cost.upkeep;
  if (shared > options_.sharing * own.all()) return false;
  Heavy& heavy = this->heavy(number);
  heavy.to_try.clear();
  heavy.is_clear = true;
  const double known = heavy.policy.cost();
  const Moves::Rule moved{.number = number,
                          .serial = rule(number).serial,
                          .before = placement.arrangement(),
                          .cost = known > 0 ? known : own.all()};
  moves_.go({moved}, *both,
            time_text(shared) + " a terminator under " + both->to_string() + ", " +
                time_text(own.all()) + " under " + std::string(placement.engine().name()));
  return true;
}

/// Has the rules of a trial go elsewhere, on probation.
void Placer::go(Trial& trial, const Arrangement& after, const std::string& reason) {
  std::vector<Moves::Rule> rules;
  for (const Trial::Member& member : trial.members()) {
    if (member.terminators == 0) continue;
    Heavy& heavy = this->heavy(member.rule);
    const Placement& placement = this->placement(member.rule);
    const double known = heavy.policy.cost();
    const double tried = member.own / static_cast<double>(member.terminators);
    rules.push_back({.number = member.rule,
                     .serial = member.serial,
                     .before = placement.arrangement(),
                     .cost = known > 0 ? known : tried + upkeep_of(placement.entry())});
    heavy.to_try.clear();
    heavy.is_clear = true;
  }
  moves_.go(std::move(rules), after, reason);
  credit_ += trial.spent();  // a trial that leads to a move is no waste
}

/// Learns from a probation that is over. A rule that stays where it went may do still better if the
/// engine before takes a part of its terminators.
void Placer::note(const Moves::Ended& ended) {
  for (const Moves::Rule& rule : ended.rules) {
    heavy(rule.number).policy.settled(ended.worse, ended.kept);
  }
  if (ended.rules.size() > 1) together_.policy.settled(ended.worse, ended.kept);
  if (!ended.kept) credit_ -= ended.loss;
  if (ended.kept && ended.rules.size() == 1) share_with_former(ended.rules.front(), ended.ratio);
}

/// `ratio`: what a terminator costs now by what it cost before the move.
void Placer::share_with_former(const Moves::Rule& moved, double ratio) {
  Placement& placement = this->placement(moved.number);
  if (!placement.is_automatic()) return;
  const auto found = [&](const engine::Engine& engine, double cost) {
    const double upkeep = std::min(cost, upkeep_of(placement.at(engine)));
    return Found{.evaluation = cost - upkeep, .upkeep = upkeep};
  };
  const engine::Engine& former = *moved.before.engine;
  share_with(moved.number, {.engine = &former, .cost = found(former, moved.cost)},
             found(placement.engine(), moved.cost * ratio));
}

/// Two engines that give different composites are a defect. The rule stays on the engine that is
/// tested most.
void Placer::raise_alarm(std::uint32_t number, const engine::Engine& other,
                         const Shadow::Difference& difference) {
  const DeployedRule& of = rule(number);
  Placement& placement = this->placement(number);
  placement.set_alarm(std::string(placement.engine().name()) + " and " + std::string(other.name()) +
                      " disagree: " + difference.text);
  moves_.arrange(number, {engine::find_engine(options_.choices.front())}, placement.alarm());
  placement.set_automatic(false);
  if (!options_.on_alarm) return;
  options_.on_alarm({.rule = of.rule().name,
                     .difference = placement.alarm(),
                     .report = alarm_report(of, rules_.schema(), history_, difference.terminator,
                                            placement.alarm())});
}

template <class IsOver>
void Placer::end_trials(IsOver is_over) {
  std::vector<const Trial*> over;
  for (Trial& trial : trials_) {
    if (is_over(trial)) over.push_back(&trial);
  }
  for (const Trial* const trial : over) end_trial(*trial);
}

void Placer::end_trial(const Trial& trial) {
  for (const Trial::Member& member : trial.members()) {
    tried_.erase(member.rule);
    if (const auto number = rules_.number_of(member.serial)) moves_.withdraw_idle(*number);
  }
  trials_.remove_if([&](const Trial& other) { return &other == &trial; });
}

}  // namespace gorgo::dispatch
