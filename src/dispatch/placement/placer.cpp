#include "dispatch/placement/placer.hpp"

#include <algorithm>
#include <chrono>
#include <new>
#include <utility>

#include "base/since.hpp"
#include "dispatch/placement/policy.hpp"

namespace gorgo::dispatch {
namespace {

using namespace tuning;
using Clock = std::chrono::steady_clock;
using Ability = Ledger::Option::Ability;

std::uint64_t mixed(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15U;  // splitmix64
  x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27U)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31U);
}

double upkeep_of(const EngineEntry& entry) { return entry.upkeep.per_terminator().value_or(0); }

}  // namespace

Routing Placer::place(std::uint32_t number, std::size_t terminators) {
  Placement& placement = this->placement(number);
  if (options_.shuffle != 0 && placement.is_automatic()) return at_random(number, terminators);
  if (is_tried(number)) {
    Trial& trial = trials_.at(number);
    const auto start = Clock::now();
    const bool remembered = trial.evaluation.remember(rule(number));
    charge(option_of(trial), nanoseconds_since(start));
    if (!remembered) {
      carry_out({Directive::Kind::drop,
                 {trial.serial},
                 {trial.engine},
                 "it remembers too much to try others"});
    }
  }
  return placement.route(terminators);
}

std::uint64_t Placer::draw() { return mixed(options_.shuffle + ++draws_); }

Routing Placer::at_random(std::uint32_t number, std::size_t terminators) {
  Placement& placement = this->placement(number);
  const auto engines = engine::engines();
  const engine::Engine& engine = *engines[draw() % engines.size()];
  const engine::Engine& other = *engines[draw() % engines.size()];
  prepare(number, placement.at(engine));
  placement.move_to(engine, "at random");
  if (draw() % 2 == 0) placement.withdraw_others();
  const bool shared = !rule(number).rule().is_sequential() && &other != &engine && terminators > 1;
  if (!shared) return {.entry = &placement.entry(), .own = terminators};
  EngineEntry& reserve = placement.at(other);
  prepare(number, reserve);
  return {&placement.entry(), 1 + draw() % (terminators - 1), &reserve};
}

/// Nanoseconds by the clock on the wall, of what takes an engine so long on one thread.
double Placer::wall(const engine::Engine& engine, double nanoseconds) const {
  if (!engine.divides_terminators()) return nanoseconds;
  const double most = options_.threads;
  return nanoseconds / (threads_.is_known() ? std::clamp(threads_.value(), 1.0, most) : most);
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
  const Placement::Spent now{.nanoseconds = others * each * wall(*entry.engine, nanoseconds),
                             .terminators = others * static_cast<double>(terminators)};
  if (!ledger_.proofs().empty()) {
    const std::uint64_t serial = rule(number).serial;
    const Ledger::Rule* const known = ledger_.find(serial);
    if (known != nullptr && known->proof) {
      Ledger::prove(serial, *known, now, placement.engine().is_warming_up());
    }
  }
  if (const auto spent = placement.spend(now)) look(number, *spent);
}

/// The rule has taken so much that it is worth looking at.
void Placer::look(std::uint32_t number, const Placement::Spent& spent) {
  const std::uint64_t serial = rule(number).serial;
  Ledger::Rule& known = ledger_.at(serial);
  if (known.options.empty()) begin_to_know(known, number);
  look_at_engines(known, number);
  known.upkeep = note_upkeep(number);
  known.batch = placement(number).batch();
  known.share = placement(number).share();
  ledger_.observe(known, spent);
  due_.insert(serial);
}

void Placer::begin_to_know(Ledger::Rule& known, std::uint32_t number) {
  known.now = placement(number).arrangement();
  known.is_divisible = options_.threads > 1 && !rule(number).rule().is_sequential();
  for (const std::string_view name : options_.choices) {
    known.options.emplace_back(engine::find_engine(name));
  }
}

/// Finds out which engines can take the rule and what it would cost them to begin.
void Placer::look_at_engines(Ledger::Rule& known, std::uint32_t number) {
  const plan::Plan& plan = *rule(number).plan;
  double events = 0;
  std::uint64_t stored = 0, late = 0;
  for (const auto& [type, reach] : plan.reach) {
    if (!history_.keeps(type)) continue;  // a timer's
    const history::EventStore& store = history_.store(type);
    events += static_cast<double>(store.end() - store.begin());
    stored += store.count();
    late += store.late();
  }
  const auto more = static_cast<double>(stored - std::exchange(known.stored, stored));
  const auto more_late = static_cast<double>(late - std::exchange(known.late, late));
  for (Ledger::Option& option : known.options) {
    option.start = kTakeIn * events;
    if (more > 0) {
      option.is_hindered = more_late > kLate * more && !option.engine->bears_late_events();
    }
    if (option.ability != Ability::unknown || !option.engine->is_ready()) continue;
    option.ability =
        option.engine->reason_to_decline(plan).empty() ? Ability::able : Ability::unable;
  }
}

/// What keeping indexes costs the rule for a terminator.
double Placer::note_upkeep(std::uint32_t number) {
  Placement& placement = this->placement(number);
  double all = 0;
  for (const engine::Engine* const engine :
       {placement.arrangement().engine, placement.arrangement().reserve}) {
    if (engine == nullptr) continue;
    EngineEntry& entry = placement.at(*engine);
    entry.note_upkeep(rule(number).state.terminators);
    all += upkeep_of(entry);
  }
  return all;
}

/// Trials have a part of all time.
void Placer::earn() {
  const double took = std::exchange(took_, 0);
  elapsed_ += took;
  const double part =
      elapsed_ < kEagerFor ? std::max(kEager, options_.exploration) : options_.exploration;
  ledger_.credit = std::clamp(ledger_.credit + part * took, -kPause, kPause);
  pause_ = 0;
}

void Placer::settle() {
  // Most rounds with few events are not timed, so these earn nothing that decisions could spend.
  if (took_ == 0 && trials_.empty() && ledger_.proofs().empty()) return;
  earn();
  try {
    decide_what_is_due();
  } catch (const std::bad_alloc&) {
    give_up();
  }
  if (std::exchange(is_untidy_, false)) history_.trim();  // of what nobody holds any more
}

void Placer::give_up() {
  trials_.clear();
  due_.clear();
  while (!ledger_.rules().empty()) {
    const std::uint64_t serial = ledger_.rules().begin()->first;
    ledger_.forget(serial);
    if (const auto number = rules_.number_of(serial)) withdraw_idle(*number);
  }
}

void Placer::decide_what_is_due() {
  if (generation_ != rules_.generation()) catch_up_with_changes();
  ledger_.end_batch();
  for (const auto& [number, trial] : trials_) due_.insert(trial.serial);
  if (options_.shuffle == 0 && !(due_.empty() && ledger_.proofs().empty())) {
    const std::vector<std::uint64_t> due(due_.begin(), due_.end());
    for (const Directive& directive : decide(ledger_, due, elapsed_)) carry_out(directive);
  }
  due_.clear();
}

/// Forgets what was known of rules that have gone or were pinned. What is known of the others
/// stays, because the costs of a rule are its own.
void Placer::catch_up_with_changes() {
  generation_ = rules_.generation();
  std::vector<std::uint64_t> gone;
  for (const auto& [serial, known] : ledger_.rules()) {
    const auto number = rules_.number_of(serial);
    const bool stays = number && placement(*number).is_automatic() &&
                       placement(*number).arrangement() == known.now;
    if (!stays) gone.push_back(serial);
    if (!stays && number) withdraw_idle(*number);
  }
  for (const std::uint64_t serial : gone) ledger_.forget(serial);
  std::map<std::uint32_t, Trial> trials;
  for (auto& [number, trial] : trials_) {
    if (ledger_.find(trial.serial) == nullptr) continue;
    trials.emplace(*rules_.number_of(trial.serial), std::move(trial));
  }
  trials_ = std::move(trials);
}

void Placer::carry_out(const Directive& directive) {
  for (const std::uint64_t serial : directive.rules) {
    const std::uint32_t number = *rules_.number_of(serial);
    Placement& placement = this->placement(number);
    const Ledger::Rule& known = *ledger_.find(serial);
    trials_.erase(number);
    switch (directive.kind) {
      case Directive::Kind::trial:
        if (placement.few() > 0) leave_few(number, *placement.reserve().engine);
        break;
      case Directive::Kind::drop:
        if (!directive.reason.empty()) placement.set_reason(directive.reason);
        if (known.proof && known.proof->members.size() == 1)
          leave_few(number, *directive.where.engine);
        break;
      default:
        if (directive.where != placement.arrangement())
          arrange(number, directive.where, directive.reason);
    }
    withdraw_idle(number);
  }
  ledger_.carry_out(directive, elapsed_);
  for (const std::uint64_t serial : directive.rules) {
    const std::uint32_t number = *rules_.number_of(serial);
    if (directive.kind == Directive::Kind::trial) begin_trial(number, *directive.where.engine);
    Ledger::Rule& known = *ledger_.find(serial);
    known.upkeep = note_upkeep(number);
    known.share = placement(number).share();
  }
}

void Placer::begin_trial(std::uint32_t number, const engine::Engine& engine) {
  const Trial& trial = trials_.emplace(number, Trial{rule(number).serial, &engine}).first->second;
  const auto start = Clock::now();
  prepare(number, placement(number).at(engine));
  charge(option_of(trial), nanoseconds_since(start));
}

Ledger::Option& Placer::option_of(const Trial& trial) {
  return *ledger_.at(trial.serial).find(trial.engine);
}

void Placer::charge(Ledger::Option& option, double nanoseconds) {
  option.spent += nanoseconds;
  ledger_.credit -= nanoseconds;
}

/// Prepares an evaluator of the entry, if it has none.
void Placer::prepare(std::uint32_t number, EngineEntry& entry) {
  if (!entry.evaluators.empty()) return;
  entry.evaluators.push_back(entry.engine->prepare(rule(number).plan, history_));
  entry.note_upkeep(rule(number).state.terminators);
}

/// Has the rule's terminators go as arranged.
void Placer::arrange(std::uint32_t number, const Arrangement& arrangement,
                     const std::string& reason) {
  Placement& placement = this->placement(number);
  prepare(number, placement.at(*arrangement.engine));
  placement.move_to(*arrangement.engine, reason);
  if (arrangement.reserve == nullptr) return;
  prepare(number, placement.at(*arrangement.reserve));
  const auto cost = [&](const engine::Engine& engine) {
    const EngineEntry& entry = placement.at(engine);
    return wall(engine, entry.cost.per_terminator().value_or(entry.estimate.value_or(1)));
  };
  const double own = cost(*arrangement.engine), reserve = cost(*arrangement.reserve);
  placement.share_with(*arrangement.reserve, own / (own + reserve));
}

/// Has few terminators at a time go to the reserve, if the engine is a device, which has a fixed
/// cost for any number.
void Placer::leave_few(std::uint32_t number, const engine::Engine& reserve) {
  Placement& placement = this->placement(number);
  if (placement.share() > 0) return;
  const double each = wall(reserve, placement.at(reserve).cost.per_terminator().value_or(0));
  const double few = each > 0 ? placement.engine().fixed_cost() / each : 0;
  if (few < kMuchFewer * placement.small_batch()) return placement.leave_none();
  prepare(number, placement.at(reserve));
  placement.leave_few_to(reserve, static_cast<std::size_t>(few));
}

void Placer::balance(std::uint32_t number, double own, double reserve) {
  Placement& placement = this->placement(number);
  if (placement.share() == 0) return;
  const double even = reserve / (own + reserve);
  placement.share_with(*placement.reserve().engine, (placement.share() + even) / 2);
}

/// Lets go of what engines hold that the rule has no use for.
void Placer::withdraw_idle(std::uint32_t number) {
  placement(number).withdraw_others();
  is_untidy_ = true;
}

void Placer::try_elsewhere(std::span<const Evaluated> evaluated) {
  for (const Evaluated& own : evaluated) {
    if (pause_ > kPause) return;
    if (own.terminators.slots.empty() || !is_tried(own.rule)) continue;
    try_elsewhere(trials_.at(own.rule), own);
  }
}

void Placer::try_elsewhere(Trial& trial, const Evaluated& own) {
  Ledger::Option& option = option_of(trial);
  const bool is_warming_up = trial.engine->is_warming_up();
  if (is_warming_up && is_waiting(option, elapsed_)) {
    option.last = elapsed_;
    return;
  }
  Placement& placement = this->placement(own.rule);
  EngineEntry& there = placement.at(*trial.engine);
  const auto start = Clock::now();
  const std::chrono::nanoseconds limit(static_cast<std::int64_t>(std::max(kTry, ledger_.credit)));
  const engine::Budget budget{.stop = &stop_, .threads = options_.threads, .until = start + limit};
  trial.evaluation.evaluate(rule(own.rule), there, own.terminators, budget, kTry);
  const double took = nanoseconds_since(start);
  charge(option, took);
  pause_ += took;
  const std::size_t done = trial.evaluation.done();
  const auto difference = trial.evaluation.difference(
      rule(own.rule), rules_.schema(), own.terminators.slots.first(done), own.outcome);
  if (difference) return raise_alarm(own.rule, *trial.engine, *difference);
  if (stop_.load(std::memory_order_relaxed)) return;
  there.note_upkeep(rule(own.rule).state.terminators);
  option.upkeep = upkeep_of(there);
  // An engine that has given up taking in what is remembered costs at least that for a terminator.
  const auto compared = static_cast<double>(std::max<std::size_t>(1, done));
  there.estimate = took / compared;
  option.has_caught_up = option.has_caught_up || done == 0;
  const double before = wall(placement.engine(), own.took) * compared /
                        static_cast<double>(own.terminators.slots.size());
  Ledger::compare(option, before, wall(*trial.engine, took), is_warming_up, elapsed_);
}

/// Two engines that give different composites are a defect. The rule stays on the engine that is
/// tested most.
void Placer::raise_alarm(std::uint32_t number, const engine::Engine& other,
                         const TrialEvaluation::Difference& difference) {
  const DeployedRule& of = rule(number);
  Placement& placement = this->placement(number);
  placement.set_alarm(std::string(placement.engine().name()) + " and " + std::string(other.name()) +
                      " disagree: " + difference.text);
  arrange(number, {engine::find_engine(options_.choices.front())}, placement.alarm());
  placement.set_automatic(false);
  ledger_.forget(of.serial);
  trials_.erase(number);
  withdraw_idle(number);
  if (options_.on_alarm) options_.on_alarm(of, difference.terminator);
}

}  // namespace gorgo::dispatch
