#include "dispatch/placement/placer.hpp"

#include <algorithm>
#include <chrono>
#include <functional>
#include <utility>

#include "base/time_text.hpp"
#include "dispatch/placement/alarm_report.hpp"
#include "dispatch/placement/cost_model.hpp"

namespace gorgo::dispatch {
namespace {

constexpr double kMillisecond = 1e6;  // in nanoseconds, as all times here
constexpr double kMostCredit = 50 * kMillisecond;
/// One long trial must not keep others from being made for longer than half a second.
constexpr double kMostDebt = 10 * kMillisecond;
/// An engine is worth a trial if its estimate is at most `kWorthTrial` times what would be
/// attempted, because the model is better at comparing engines than at costs. It is also worth one
/// if its estimate is far below the measured cost of the present engine, because then the model
/// misses something about the load.
constexpr double kWorthTrial = 1.25, kFarBelow = 0.5;
/// Beginning a trial may take a part of what the rule has cost so far, and `kLittleStart` in any
/// case.
constexpr double kPartOfSpent = 0.5, kLittleStart = kMillisecond;
/// Beginning a trial must not hold up events for longer than `kLongestPause`, nor must all trials
/// of a batch. A single evaluation in a trial gets a limit between `kShortestTry` and
/// `kLongestTry`.
constexpr double kLongestPause = 20 * kMillisecond;
constexpr double kLongestTry = 10 * kMillisecond, kShortestTry = kMillisecond;
/// Between these two, the limit is so many times what the present engine took.
constexpr double kMuchLonger = 4;
/// A trial is given up after so many batches without a terminator of the rule.
constexpr std::size_t kPatienceOfTrial = 256;
/// What is measured to take so many times as long is not tried again soon.
constexpr double kClearly = 2;
/// The most trials at a time: each has one more engine take in what the rule reads.
constexpr std::size_t kMostTrials = 64;
/// A trial waits no longer for what an engine gets ready for all rules.
constexpr std::chrono::seconds kLongestWait{2};

std::uint64_t mixed(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15U;  // splitmix64
  x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27U)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31U);
}

}  // namespace

void Placer::prepare(const DeployedRule& rule, Post& post) {
  if (post.evaluators.empty()) post.evaluators.push_back(post.engine->prepare(rule.plan, history_));
}

Places Placer::place(std::uint32_t index, std::size_t terminators) {
  DeployedRule& rule = rules_.rules()[index];
  Placement& placement = rule.placement;
  if (options_.shuffle != 0 && placement.is_automatic()) return at_random(rule, terminators);
  if (is_tried(index) && !remember(trials_.at(index))) end_trial(index);
  return placement.places_for(terminators);
}

bool Placer::remember(Trial& trial) {
  const auto start = std::chrono::steady_clock::now();
  const bool remembered = trial.shadow.remember(rules_.rules()[trial.rule]);
  charge(trial, start);
  return remembered;
}

double Placer::since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count();
}

void Placer::charge(Trial& trial, std::chrono::steady_clock::time_point start) {
  const double took = since(start);
  credit_ -= took;
  trial.spent += took;
}

std::uint64_t Placer::draw() { return mixed(options_.shuffle + ++draws_); }

Places Placer::at_random(DeployedRule& rule, std::size_t terminators) {
  const auto engines = engine::engines();
  const engine::Engine& engine = *engines[draw() % engines.size()];
  const engine::Engine& other = *engines[draw() % engines.size()];
  prepare(rule, rule.placement.at(engine));
  rule.placement.move_to(engine, "at random");
  if (draw() % 2 == 0) rule.placement.withdraw_others();
  const bool shared = rule.rule().consuming.empty() && &other != &engine && terminators > 1;
  if (!shared) return {.post = &rule.placement.post(), .own = terminators};
  Post& reserve = rule.placement.at(other);
  prepare(rule, reserve);
  return {&rule.placement.post(), 1 + draw() % (terminators - 1), &reserve};
}

void Placer::observe(std::uint32_t index, Post& post, std::uint64_t terminators,
                     double nanoseconds) {
  post.cost.add(terminators, nanoseconds);
  Placement& placement = rules_.rules()[index].placement;
  if (!placement.is_automatic()) return;  // there is nothing to decide about it
  const double others = terminators < Placement::kMany ? Placement::kMany : 1;  // for untimed ones
  const double spent = placement.spend(nanoseconds * others);
  if (spent == 0 || is_attempted(index)) return;
  placement.post().note_upkeep(rules_.rules()[index].state.terminators);
  Heavy& heavy = heavy_[index];
  const bool drifted = heavy.watch.look(spent, placement.post().cost.per_terminator().value_or(0));
  heavy.drifted |= drifted;
  heavy.spent += on_all_threads(placement.engine(), spent);
  if (drifted) together_ = {};
  if (std::ranges::find(due_, index) == due_.end()) due_.push_back(index);
}

void Placer::settle(Timestamp clock) {
  const double took = std::exchange(took_, 0);
  credit_ = std::clamp(credit_ + options_.exploration * took, -kMostDebt, kMostCredit);
  pause_ = 0;
  if (generation_ != rules_.generation()) catch_up_with_changes();
  give_up_quiet_trials();
  if (std::exchange(is_untidy_, false)) history_.trim();
  if (attempt_ || options_.shuffle != 0) return;
  while (credit_ >= 0 && !due_.empty() && trials_.size() < kMostTrials) {
    const std::uint32_t rule = due_.back();
    due_.pop_back();
    if (!is_tried(rule)) consider(rule, clock);
  }
  if (!heavy_.empty()) together_.spent += took;
  if (credit_ < 0 || is_busy()) return;
  begin_next_attempt();
  if (!attempt_ && together_.spent > together_.interval) consider_together(clock);
}

/// Whether a trial goes on that has had terminators lately or has only begun.
bool Placer::is_busy() const {
  constexpr std::size_t kQuiet = 16;  // batches
  return std::ranges::any_of(trials_, [](const auto& trial) { return trial.second.idle < kQuiet; });
}

void Placer::watch_threads(double busy, double took) {
  constexpr double kShare = 0.2, kLong = 5 * kMillisecond;  // weight of the new value, at most
  const double share = std::min(kShare, took / kLong);
  threads_ += share * (std::clamp<double>(busy / took, 1, options_.threads) - threads_);
}

/// Forgets what was known of rules, because some have gone, were pinned or have other numbers.
void Placer::catch_up_with_changes() {
  generation_ = rules_.generation();
  trials_.clear();
  for (DeployedRule& rule : rules_.rules()) {
    if (attempt_) rule.placement.stay(rule.placement.reason());
    rule.placement.withdraw_others();
  }
  is_untidy_ = true;
  attempt_.reset();
  others_.clear();
  together_ = {};
  hopeful_.clear();
  heavy_.clear();
  due_.clear();
}

void Placer::consider(std::uint32_t index, Timestamp clock) {
  DeployedRule& rule = rules_.rules()[index];
  Heavy& heavy = heavy_[index];
  const bool drifted = std::exchange(heavy.drifted, false);
  if (!rule.placement.is_automatic() || is_sharing(index, drifted)) return;
  withdraw_reserve(index);
  if (heavy.to_try.empty()) {
    if (!heavy.watch.is_due()) return;
    estimate_costs(rule, heavy, clock);
    heavy.to_try = alternatives(rule);
    std::erase_if(heavy.to_try, [&](const engine::Engine* engine) {
      return !is_worth_trying(rule.placement, *engine, heavy.spent);
    });
  }
  while (!heavy.to_try.empty()) {
    const engine::Engine& engine = *heavy.to_try.back();
    heavy.to_try.pop_back();
    if (is_worth_trying(rule.placement, engine, heavy.spent)) return begin_trial(index, engine);
  }
  heavy.watch.passed();
}

bool Placer::is_worth_trying(Placement& placement, const engine::Engine& engine,
                             double spent) const {
  const auto own = placement.post().estimate, other = placement.at(engine).estimate;
  // A rule is expected to cost about as much again as it has cost so far.
  const double least = std::max(kLittleStart, kPartOfSpent * spent);
  if (!other || other->start > std::min({credit_, kLongestPause, least})) return false;
  if (!own) return true;  // the rule was pinned to an engine that is not modelled
  const double measured =
      on_all_threads(placement.engine(), placement.post().cost.per_terminator().value_or(0));
  const double promising = kWorthTrial * closeness(placement.engine(), engine);
  return estimated(placement, engine) <=
         std::max(promising * estimated(placement, placement.engine()), kFarBelow * measured);
}

double Placer::estimated(Placement& placement, const engine::Engine& engine) const {
  const auto estimate = placement.at(engine).estimate;
  return estimate ? on_all_threads(engine, estimate->terminator) + estimate->upkeep : 0;
}

/// The engines that the rule may be tried on. The one with the least estimated cost comes last.
std::vector<const engine::Engine*> Placer::alternatives(DeployedRule& rule) {
  std::vector<const engine::Engine*> engines;
  for (const std::string_view name : options_.choices) {
    const engine::Engine* const engine = engine::find_engine(name);
    if (engine == &rule.placement.engine()) continue;
    if (engine->is_ready() && engine->declined(*rule.plan).empty()) engines.push_back(engine);
  }
  std::ranges::sort(engines, std::greater(), [&](const engine::Engine* engine) {
    return estimated(rule.placement, *engine);
  });
  return engines;
}

void Placer::estimate_costs(DeployedRule& rule, Heavy& heavy, Timestamp clock) {
  const auto terminators = static_cast<double>(rule.state.terminators - heavy.terminators);
  const bool known = heavy.terminators > 0;
  const auto elapsed = static_cast<double>(clock - heavy.clock);
  heavy.terminators = rule.state.terminators;
  heavy.clock = clock;
  Load load = load_of(*rule.plan, history_, terminators, elapsed, rule.placement.batch());
  load.has_rates = known;
  for (const std::string_view name : options_.choices) {
    rule.placement.at(*engine::find_engine(name)).estimate = estimate(name, load);
  }
}

void Placer::begin_trial(std::uint32_t index, const engine::Engine& engine) {
  DeployedRule& rule = rules_.rules()[index];
  const auto start = std::chrono::steady_clock::now();
  Post& post = rule.placement.at(engine);
  prepare(rule, post);
  post.note_upkeep(rule.state.terminators);
  Trial trial{.rule = index, .engine = engine, .shadow = Shadow(stop_, options_.threads)};
  charge(trials_.emplace(index, std::move(trial)).first->second, start);
}

void Placer::try_elsewhere(std::uint32_t index, const engine::Terminators& terminators,
                           const Outcome& outcome, double took) {
  if (terminators.slots.empty() || pause_ > kLongestPause) return;
  DeployedRule& rule = rules_.rules()[index];
  Trial& trial = trials_.at(index);
  Post& other = rule.placement.at(trial.engine);
  trial.idle = 0;
  if (is_to_wait(trial)) return;
  const double present = on_all_threads(rule.placement.engine(), took);
  const double most = std::clamp(kMuchLonger * present, kShortestTry, kLongestTry);
  const auto [done, nanoseconds] = trial.shadow.evaluate(rule, other, terminators, most);
  credit_ -= nanoseconds;
  trial.spent += nanoseconds;
  pause_ += nanoseconds;
  if (stop_.load(std::memory_order_relaxed)) return end_trial(index);
  const auto difference =
      trial.shadow.difference(rule, rules_.schema(), terminators.slots.first(done), outcome);
  if (difference) return raise_alarm(trial, *difference);
  if (done == 0) return;
  const double part = static_cast<double>(done) / static_cast<double>(terminators.slots.size());
  if (!compare(trial, done, took * part, nanoseconds)) return;
  other.cost.add(done, nanoseconds);
  judge(trial);
}

/// An engine gets ready what it needs for the rule when it is first asked. If it is not the better
/// one without that, the trial waits for it. Nothing is tried in the turns of an attempt.
bool Placer::is_to_wait(Trial& trial) const {
  constexpr std::size_t kFew = 3;
  const bool waits = attempt_ || (trial.evaluations >= kFew && is_warming_up(trial));
  if (waits) trial.has_caught_up = false;
  return waits;
}

bool Placer::is_warming_up(const Trial& trial) {
  return trial.engine.is_warming_up() &&
         std::chrono::steady_clock::now() - trial.start < kLongestWait;
}

/// True: there is enough to judge by. An evaluation takes longer while the engine catches up or is
/// not ready yet, so such an evaluation counts only where it is faster nevertheless.
bool Placer::compare(Trial& trial, std::uint64_t terminators, double own, double other) {
  const engine::Engine& present = rules_.rules()[trial.rule].placement.engine();
  const double even = on_all_threads(present, 1) / on_all_threads(trial.engine, 1);
  Comparison alone;
  alone.add(terminators, own, other);
  ++trial.evaluations;
  const bool has_caught_up = std::exchange(trial.has_caught_up, true);
  if (!has_caught_up && !alone.is_surely_better(even)) return false;
  if (has_caught_up && is_warming_up(trial)) {
    if (alone.ratio() > heavy_[trial.rule].watch.trust() * options_.gain * even) return false;
    trial.comparison = alone;
    return true;
  }
  trial.comparison.add(terminators, own, other);
  return trial.comparison.is_enough(even);
}

void Placer::judge(Trial& trial) {
  Placement& placement = rules_.rules()[trial.rule].placement;
  const engine::Engine& present = placement.engine();
  const double ratio =
      on_all_threads(trial.engine, trial.comparison.ratio()) / on_all_threads(present, 1);
  const double own = on_all_threads(present, trial.comparison.own());
  const std::string costs = time_text(own * ratio) + " a terminator under " +
                            std::string(trial.engine.name()) + ", " + time_text(own) + " under " +
                            std::string(present.name());
  Heavy& heavy = heavy_[trial.rule];
  heavy.is_clear &= ratio > kClearly;
  if (ratio < heavy.watch.trust() * options_.gain) {
    move(placement, trial.engine, costs);
    heavy.watch.moved();
    heavy.to_try.clear();
    heavy.candidates.clear();
    credit_ += trial.spent;  // a trial that leads to a move is no waste
  } else {
    placement.set_reason(costs);
  }
  if (heavy.to_try.empty()) heavy.watch.tried(std::exchange(heavy.is_clear, true));
  consider_attempts(trial, present);
  end_trial(trial.rule);
}

void Placer::move(Placement& placement, const engine::Engine& engine, const std::string& costs) {
  const engine::Engine& before = placement.engine();
  placement.move_to(engine, costs);
  leave_few(placement, before);
}

/// Has few terminators at a time go to the reserve, because a device has a fixed cost for any
/// number.
void Placer::leave_few(Placement& placement, const engine::Engine& reserve) {
  constexpr double kMuchFewer = 2;
  const double cost = placement.at(reserve).cost.per_terminator().value_or(0);
  const double each = on_all_threads(reserve, cost);
  const double few = each > 0 ? placement.engine().fixed_cost() / each : 0;
  // Where batches are seldom much smaller than that, keeping another engine prepared costs more
  // than it gives.
  if (few < kMuchFewer * placement.small_batch()) return placement.leave_none();
  placement.leave_few_to(reserve, static_cast<std::size_t>(few));
}

void Placer::withdraw_reserve(std::uint32_t index) {
  Placement& placement = rules_.rules()[index].placement;
  if (placement.share() > 0 || placement.few() == 0) return;
  leave_few(placement, *placement.reserve().engine);
  if (placement.few() == 0) withdraw_idle(index);
}

/// Lets go of what engines hold that the rule has no use for. Between the turns of an attempt a
/// device keeps its evaluators, because it takes events in only when it is asked; indexes are
/// dropped, so that nobody keeps them up meanwhile.
void Placer::withdraw_idle(std::uint32_t index) {
  Placement& placement = rules_.rules()[index].placement;
  placement.withdraw_others([&](const engine::Engine& engine) {
    return is_attempted(index) && attempt_->concerns(engine) && engine.is_device();
  });
  is_untidy_ = true;
}

/// Two engines that give different composites are a defect. The rule stays on the engine that is
/// tested most.
void Placer::raise_alarm(const Trial& trial, const Shadow::Difference& difference) {
  DeployedRule& rule = rules_.rules()[trial.rule];
  Placement& placement = rule.placement;
  placement.set_alarm(std::string(placement.engine().name()) + " and " +
                      std::string(trial.engine.name()) + " disagree: " + difference.text);
  const engine::Engine& column = *engine::find_engine(options_.choices.front());
  prepare(rule, placement.at(column));
  placement.move_to(column, placement.alarm());
  placement.set_automatic(false);
  if (options_.on_alarm) {
    options_.on_alarm({.rule = rule.rule().name,
                       .difference = placement.alarm(),
                       .report = alarm_report(rule, rules_.schema(), history_,
                                              difference.terminator, placement.alarm())});
  }
  end_trial(trial.rule);
}

void Placer::give_up_quiet_trials() {
  std::vector<std::uint32_t> quiet;
  for (auto& [rule, trial] : trials_) {
    if (++trial.idle > kPatienceOfTrial) quiet.push_back(rule);
  }
  for (const std::uint32_t rule : quiet) end_trial(rule);
}

void Placer::end_trial(std::uint32_t rule) {
  withdraw_idle(rule);
  trials_.erase(rule);
}

/// Makes engines that run on one thread comparable with those that run on all threads.
double Placer::on_all_threads(const engine::Engine& engine, double nanoseconds) const {
  return engine.divides_terminators() ? nanoseconds / threads_ : nanoseconds;
}

}  // namespace gorgo::dispatch
