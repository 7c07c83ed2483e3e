#include "dispatch/placer.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

#include "base/time_text.hpp"
#include "dispatch/cost_model.hpp"

namespace gorgo::dispatch {
namespace {

constexpr double kMillisecond = 1e6;  // in nanoseconds, as all times here
constexpr double kFirstInterval = 2 * kMillisecond;
constexpr double kLongestInterval = 2000 * kMillisecond;
constexpr double kMostCredit = 50 * kMillisecond;
constexpr double kDrift = 1.5;  ///< a cost that changes so much deserves another trial
/// What is estimated to be within this of the estimate of the present engine is worth a trial: the
/// model is better at comparing than at costs. So is what is estimated far below the measured cost
/// of the present engine: then the model knows something of the load not.
constexpr double kWorthTrying = 1.5, kFarBelow = 0.5;
/// To begin a trial, and to evaluate a batch once more, must not hold up events for longer.
constexpr double kLongestPause = 20 * kMillisecond;
constexpr double kLongestTry = 50 * kMillisecond;
/// Batches without a terminator of the rule, after which a trial is given up.
constexpr std::size_t kPatience = 256;
/// Batches at the beginning of a trial, to catch up in.
constexpr std::size_t kUncounted = 1;

/// What automatic rules may run on, the first to begin with.
constexpr std::array<std::string_view, 3> kChoices = {"column", "automaton", "cuda"};

std::uint64_t mixed(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15U;  // splitmix64
  x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27U)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31U);
}

void prepare(const DeployedRule& rule, Post& post, history::History& history) {
  if (post.evaluators.empty()) post.evaluators.push_back(post.engine->prepare(rule.plan, history));
}

}  // namespace

Post& Placer::place(std::uint32_t index, std::size_t terminators) {
  DeployedRule& rule = rules_.rules()[index];
  if (options_.shuffle != 0 && rule.placement.is_automatic()) return at_random(rule);
  if (is_tried(index) && !shadow_.remember(rule)) abandon_trial();
  return rule.placement.post_for(terminators);
}

Post& Placer::at_random(DeployedRule& rule) {
  const auto engines = engine::engines();
  const engine::Engine& engine = *engines[mixed(options_.shuffle + ++draws_) % engines.size()];
  Post& post = rule.placement.at(engine);
  prepare(rule, post, history_);
  rule.placement.move_to(engine, "at random");
  return post;
}

void Placer::observe(std::uint32_t index, Post& post, std::uint64_t terminators,
                     double nanoseconds) {
  post.cost.add(terminators, nanoseconds);
  observed_ += nanoseconds;
  const double others = terminators < Placement::kMany ? Placement::kMany : 1;  // not timed
  const double spent = rules_.rules()[index].placement.spend(nanoseconds * others);
  if (spent == 0) return;
  watches_[index].spent += spent;
  if (std::ranges::find(heavy_, index) == heavy_.end()) heavy_.push_back(index);
}

void Placer::settle(double took, Timestamp clock) {
  credit_ = std::min(kMostCredit, credit_ + options_.exploration * took);
  watch_threads(took);
  if (generation_ != rules_.generation()) catch_up_with_changes();
  if (trial_ && ++trial_->idle > kPatience) abandon_trial();
  if (std::exchange(is_untidy_, false)) history_.trim();
  if (options_.shuffle != 0 || trial_ || credit_ < 0 || heavy_.empty()) return;
  const std::uint32_t rule = heavy_.back();
  heavy_.pop_back();
  consider(rule, clock);
}

/// Threads wait for each other, and share caches: so many are worth less.
void Placer::watch_threads(double took) {
  constexpr double kShare = 0.2;  // of the new value
  const double observed = std::exchange(observed_, 0);
  if (took < 0.1 * kMillisecond || observed < 1.5 * took) return;  // not shared out
  threads_ += kShare * (std::min<double>(observed / took, options_.threads) - threads_);
}

/// Rules have other numbers now, or are gone.
void Placer::catch_up_with_changes() {
  generation_ = rules_.generation();
  trial_.reset();
  watches_.clear();
  heavy_.clear();
}

void Placer::consider(std::uint32_t index, Timestamp clock) {
  DeployedRule& rule = rules_.rules()[index];
  Watch& watch = watches_[index];
  if (!rule.placement.is_automatic()) return;
  withdraw_reserve(rule.placement);
  if (!is_due(rule, watch)) return;
  estimate_costs(rule, watch, clock);
  const auto engines = alternatives(rule);
  for (std::size_t i = 0; i < engines.size(); ++i) {
    const engine::Engine& engine = *engines[watch.next++ % engines.size()];
    if (is_worth_trying(rule.placement, engine)) return begin_trial(index, engine);
  }
  rest(watch, rule.placement.post().cost.per_terminator().value_or(0));
}

bool Placer::is_worth_trying(Placement& placement, const engine::Engine& engine) const {
  const auto own = placement.post().estimate, other = placement.at(engine).estimate;
  if (!other || other->start > std::min(credit_, kLongestPause)) return false;
  if (!own) return true;  // it was pinned to what is not modelled
  const double measured = placement.post().cost.per_terminator().value_or(0);
  return on_all_threads(engine, other->terminator) <=
         on_all_threads(placement.engine(),
                        std::max(kWorthTrying * own->terminator, kFarBelow * measured));
}

/// The longer the same engine is the best, the longer it is left alone.
void Placer::rest(Watch& watch, double cost) {
  watch.spent = 0;
  watch.judged = cost;
  watch.interval = std::clamp(2 * watch.interval, kFirstInterval, kLongestInterval);
}

bool Placer::is_due(const DeployedRule& rule, Watch& watch) const {
  const double cost = rule.placement.post().cost.per_terminator().value_or(0);
  const bool drifted =
      watch.judged > 0 && (cost > kDrift * watch.judged || cost * kDrift < watch.judged);
  if (drifted) watch.interval = 0;
  return watch.spent >= watch.interval;
}

std::vector<const engine::Engine*> Placer::alternatives(const DeployedRule& rule) {
  std::vector<const engine::Engine*> engines;
  for (const std::string_view name : kChoices) {
    const engine::Engine* const engine = engine::find_engine(name);
    if (engine == &rule.placement.engine()) continue;
    if (engine->is_ready() && engine->declined(*rule.plan).empty()) engines.push_back(engine);
  }
  return engines;
}

void Placer::estimate_costs(DeployedRule& rule, Watch& watch, Timestamp clock) {
  const auto terminators = static_cast<double>(rule.state.terminators - watch.terminators);
  const bool known = watch.terminators > 0;
  const auto elapsed = static_cast<double>(clock - watch.clock);
  watch.terminators = rule.state.terminators;
  watch.clock = clock;
  Load load = load_of(*rule.plan, history_, terminators, elapsed, rule.placement.batch());
  load.has_rates = known;
  for (const std::string_view name : kChoices) {
    rule.placement.at(*engine::find_engine(name)).estimate = estimate(name, load);
  }
}

void Placer::begin_trial(std::uint32_t index, const engine::Engine& engine) {
  DeployedRule& rule = rules_.rules()[index];
  const auto start = std::chrono::steady_clock::now();
  prepare(rule, rule.placement.at(engine), history_);
  const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - start;
  credit_ -= took.count();
  trial_ = Trial{.rule = index, .engine = &engine};
}

void Placer::try_elsewhere(const engine::Terminators& terminators, const Outcome& outcome,
                           double took) {
  DeployedRule& rule = rules_.rules()[trial_->rule];
  if (terminators.slots.empty()) return;
  Post& other = rule.placement.at(*trial_->engine);
  trial_->idle = 0;
  const auto nanoseconds = shadow_.evaluate(rule, other, terminators, kLongestTry);
  credit_ -= nanoseconds.value_or(kLongestTry);
  if (!nanoseconds) {
    rest(watches_[trial_->rule], rule.placement.post().cost.per_terminator().value_or(0));
    return abandon_trial();
  }
  const std::string difference =
      shadow_.difference(rule, rules_.schema(), terminators.slots, outcome);
  if (!difference.empty()) return raise_alarm(difference);
  if (trial_->evaluations++ < kUncounted) return;
  other.cost.add(terminators.slots.size(), *nanoseconds);
  trial_->terminators += terminators.slots.size();
  trial_->own += took;
  trial_->other += *nanoseconds;
  if (trial_->is_enough()) judge();
}

bool Placer::Trial::is_enough() const {
  constexpr std::uint64_t kTerminators = 64;
  constexpr std::size_t kEvaluations = 64;
  constexpr double kTime = 5 * kMillisecond;
  return (terminators >= kTerminators && evaluations > kUncounted + 1) ||
         evaluations >= kEvaluations || other > kTime;
}

void Placer::judge() {
  DeployedRule& rule = rules_.rules()[trial_->rule];
  Placement& placement = rule.placement;
  const engine::Engine& present = placement.engine();
  const engine::Engine& other = *trial_->engine;
  const auto count = static_cast<double>(trial_->terminators);
  const double a = on_all_threads(present, trial_->own) / count;
  const double b = on_all_threads(other, trial_->other) / count;
  const std::string costs = time_text(b) + " a terminator under " + std::string(other.name()) +
                            ", " + time_text(a) + " under " + std::string(present.name());
  Watch& watch = watches_[trial_->rule];
  watch.spent = 0;
  if (b < options_.gain * a) {
    move(rule, other, costs);
    watch.interval = kFirstInterval;
    watch.judged = trial_->other / count;
  } else {
    placement.set_reason(costs);
    rest(watch, trial_->own / count);
  }
  abandon_trial();
}

/// A device takes its time for any number of terminators, so few of them go to the engine before.
void Placer::move(DeployedRule& rule, const engine::Engine& engine, const std::string& costs) {
  Placement& placement = rule.placement;
  const Post& before = placement.post();
  const double each = on_all_threads(*before.engine, before.cost.per_terminator().value_or(0));
  placement.move_to(engine, costs);
  const double few = each > 0 ? engine.fixed_cost() / each : 0;
  placement.leave_few_to(*before.engine, static_cast<std::size_t>(few));
  withdraw_reserve(placement);
}

/// Where terminators seldom are few, to keep another engine prepared costs more than it gives.
void Placer::withdraw_reserve(Placement& placement) {
  constexpr double kSeldom = 8;  // times as many on average
  if (placement.few() == 0 || placement.batch() < kSeldom * static_cast<double>(placement.few())) {
    return;
  }
  placement.leave_none();
  placement.withdraw_others();
  is_untidy_ = true;
}

/// Two engines that give different composites are a defect; the one that is tested most stays.
void Placer::raise_alarm(const std::string& difference) {
  DeployedRule& rule = rules_.rules()[trial_->rule];
  Placement& placement = rule.placement;
  placement.set_alarm(std::string(placement.engine().name()) + " and " +
                      std::string(trial_->engine->name()) + " disagree: " + difference);
  const engine::Engine& column = *engine::find_engine(kChoices.front());
  prepare(rule, placement.at(column), history_);
  placement.move_to(column, placement.alarm());
  placement.set_automatic(false);
  if (options_.on_alarm) options_.on_alarm(rule.rule().name, placement.alarm());
  abandon_trial();
}

void Placer::abandon_trial() {
  rules_.rules()[trial_->rule].placement.withdraw_others();
  trial_.reset();
  is_untidy_ = true;
}

/// So that engines compare that have one thread with those that have all.
double Placer::on_all_threads(const engine::Engine& engine, double nanoseconds) const {
  return engine.divides_terminators() ? nanoseconds / threads_ : nanoseconds;
}

}  // namespace gorgo::dispatch
