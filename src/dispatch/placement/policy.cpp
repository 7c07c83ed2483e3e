#include "dispatch/placement/policy.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "base/time_text.hpp"
#include "dispatch/placement/tuning.hpp"

namespace gorgo::dispatch {
namespace {

using namespace tuning;
using Rule = Ledger::Rule;
using Option = Ledger::Option;
using Kind = Action::Kind;

bool is_warming_up(const Option& option, double now) {
  return option.is_warming_up && now - option.began < kWait;
}

/// Whether a trial has enough for the middle to decide.
bool is_over(const Option& option) {
  return option.ratios.is_enough() || (!option.ratios.empty() && option.took > kTry);
}

bool has_shifted(const Rule& rule) {
  const double cost = rule.cost.value(), judged = rule.judged_cost;
  const bool has_drifted = judged > 0 && (cost > kDrift * judged || kDrift * cost < judged);
  return has_drifted || rule.batch > kGrown * rule.judged_batch;
}

/// What a terminator costs with the engine, where an evaluation takes this part of what it takes on
/// the rule's own engine.
double cost_there(const Rule& rule, const Option& option, double ratio) {
  return (rule.cost.value() - rule.upkeep) * ratio + option.upkeep;
}

/// What one more rule adds to what a device takes for others. What was measured is the device's
/// fixed cost and more, so at least half of it is taken to be the rule's.
double added_cost(const Rule& rule, const Option& option, double ratio) {
  const double alone = cost_there(rule, option, ratio);
  return std::max(alone / 2, alone - option.engine->fixed_cost() / rule.batch);
}

class Decision {
 public:
  Decision(const Ledger& ledger, double now) : ledger_(ledger), now_(now) {}

  void judge(const Ledger::Proof& proof);
  void consider(std::uint64_t serial, const Rule& rule);
  void consider_together();
  std::vector<Action> actions() && { return std::move(actions_); }

 private:
  void stay(const Ledger::Proof::Member& member, const Rule& rule);
  void compare(std::uint64_t serial, const Rule& rule, const Option& option);
  void begin_trial(std::uint64_t serial, const Rule& rule);
  bool share(std::uint64_t serial, const Rule& rule, const engine::Engine& other, double evaluation,
             double upkeep);
  void go_together(const engine::Engine& device);
  double spoken_for() const;
  bool is_used(const engine::Engine& device) const;
  bool is_moving(std::uint64_t serial) const;
  void act(Kind kind, std::uint64_t serial, const Arrangement& where, std::string reason = {}) {
    actions_.push_back({kind, {serial}, where, std::move(reason)});
  }

  const Ledger& ledger_;
  const double now_;
  std::vector<Action> actions_;
  std::vector<const engine::Engine*> asked_;  // devices about which more is known now
};

/// What trials may still take that are under way.
double Decision::spoken_for() const {
  const auto trials = std::ranges::count_if(
      ledger_.rules(), [](const auto& known) { return known.second.shadow() != nullptr; });
  const auto begun = std::ranges::count(actions_, Kind::shadow, &Action::kind);
  return kTry * static_cast<double>(trials + begun);
}

/// Whether rules run on the device, so that one more does not make it dearer by its fixed cost.
bool Decision::is_used(const engine::Engine& device) const {
  return std::ranges::any_of(ledger_.rules(),
                             [&](const auto& known) { return known.second.now.engine == &device; });
}

bool Decision::is_moving(std::uint64_t serial) const {
  return std::ranges::any_of(actions_, [&](const Action& action) {
    return (action.kind == Kind::run || action.kind == Kind::share) &&
           action.rules.front() == serial;
  });
}

void Decision::judge(const Ledger::Proof& proof) {
  const Ratios& ratios = proof.ratios;
  const bool is_over = !ratios.empty() && proof.took > kProof;
  const bool stays = ratios.upper() < 1 || (is_over && ratios.median() < 1);
  const bool goes_back = ratios.lower() > 1 || (is_over && ratios.median() >= 1);
  for (const auto& member : proof.members) {
    const Rule& rule = *ledger_.find(member.serial);
    if (stays) {
      stay(member, rule);
    } else if (goes_back) {
      act(Kind::run, member.serial, member.before,
          "it took " + time_text(member.cost * ratios.median()) + " a terminator under " +
              rule.now.to_string() + ", " + time_text(member.cost) + " before");
    }
  }
}

/// A rule that stays on a device, or behind one, may do still better if the engine before takes a
/// part of its terminators.
void Decision::stay(const Ledger::Proof::Member& member, const Rule& rule) {
  const engine::Engine& former = *member.before.engine;
  if (rule.now.engine->is_device()) asked_.push_back(rule.now.engine);
  const bool is_alone = rule.proof->members.size() == 1 && rule.cost.is_known();
  if (is_alone && share(member.serial, rule, former, member.cost - member.upkeep, member.upkeep))
    return;
  act(Kind::drop, member.serial, {&former});
}

/// Shares the rule's terminators if that promises enough. The other engine takes `evaluation` and
/// `upkeep` for a terminator.
bool Decision::share(std::uint64_t serial, const Rule& rule, const engine::Engine& other,
                     double evaluation, double upkeep) {
  const auto both = side_by_side(*rule.now.engine, other);
  if (!both || !rule.is_divisible || rule.now.reserve != nullptr) return false;
  const double here = rule.cost.value();
  const double shared = shared_cost(here - rule.upkeep, evaluation) + rule.upkeep + upkeep;
  if (shared >= kGain * kGain * here) return false;
  act(Kind::share, serial, *both,
      time_text(shared) + " a terminator under " + both->to_string() + ", " + time_text(here) +
          " under " + std::string(rule.now.engine->name()));
  return true;
}

void Decision::consider(std::uint64_t serial, const Rule& rule) {
  if (rule.proof || !rule.cost.is_known()) return;
  if (has_shifted(rule)) return act(Kind::run, serial, {rule.now.engine}, "the load has shifted");
  if (rule.now.reserve != nullptr) {
    const bool is_one_idle = rule.share < 1 - kGain || rule.share > kGain;
    if (!is_one_idle) return;
    return act(Kind::run, serial, {rule.share > kGain ? rule.now.reserve : rule.now.engine},
               "no longer shared");
  }
  if (const Option* const option = rule.shadow()) return compare(serial, rule, *option);
  begin_trial(serial, rule);
}

void Decision::compare(std::uint64_t serial, const Rule& rule, const Option& option) {
  const Arrangement there{option.engine};
  if (now_ - option.last > kWait) return act(Kind::drop, serial, there);
  const bool is_device = option.engine->is_device();
  const auto promise = [&](double ratio) {
    return is_device && is_used(*option.engine) ? added_cost(rule, option, ratio)
                                                : cost_there(rule, option, ratio);
  };
  if (option.ratios.empty()) return;
  const double here = rule.cost.value(), middle = promise(option.ratios.median());
  const bool is_over = dispatch::is_over(option);
  const std::string costs = time_text(middle) + " a terminator under " + there.to_string() + ", " +
                            time_text(here) + " under " + rule.now.to_string();
  if (promise(option.ratios.upper()) < kGain * here || (is_over && middle < kGain * here)) {
    return act(Kind::run, serial, there, costs);
  }
  const bool is_worse = is_over || promise(option.ratios.lower()) > kGain * here;
  if (!is_worse || is_warming_up(option, now_)) return;
  if (share(serial, rule, *option.engine, middle - option.upkeep, option.upkeep)) return;
  if (is_device) asked_.push_back(option.engine);
  act(Kind::drop, serial, there, costs);
}

/// Of the engines that may be tried, that which has been left alone for longest comes first.
void Decision::begin_trial(std::uint64_t serial, const Rule& rule) {
  const Option* next = nullptr;
  for (const Option& option : rule.options) {
    if (option.engine == rule.now.engine || option.ability != Option::Ability::able) continue;
    if (std::max(kTry, option.until) > rule.total || option.start + kTry > kPause) continue;
    if (next == nullptr || option.until < next->until) next = &option;
  }
  if (next == nullptr || next->start + kTry > ledger_.credit) return;
  if (next->start + kTry + spoken_for() > ledger_.credit) return;
  act(Kind::shadow, serial, {next->engine});
}

void Decision::consider_together() {
  std::ranges::sort(asked_);
  const auto [first, last] = std::ranges::unique(asked_);
  asked_.erase(first, last);
  for (const engine::Engine* const device : asked_) go_together(*device);
}

/// Has rules go to the device of which none would do better there alone: the device has its fixed
/// cost once for all of them. Each of them has been tried.
void Decision::go_together(const engine::Engine& device) {
  double here = 0, there = is_used(device) ? 0 : device.fixed_cost();
  Action move{.kind = Kind::run, .rules = {}, .where = {&device}, .reason = {}};
  for (const auto& [serial, rule] : ledger_.rules()) {
    const Option* const option = rule.find(&device);
    const bool is_free = !rule.proof && rule.now.reserve == nullptr && rule.now.engine != &device &&
                         rule.cost.is_known() && !is_moving(serial);
    if (!is_free || option == nullptr || option->ratios.empty()) continue;
    const bool is_tried = option->is_shadowing && !is_over(*option);
    const double added = added_cost(rule, *option, option->ratios.median());
    if (is_tried || added >= kGain * rule.cost.value()) continue;
    move.rules.push_back(serial);
    here += rule.batch * rule.cost.value();
    there += rule.batch * added;
  }
  if (move.rules.empty() || there >= kGain * here) return;
  std::erase_if(actions_, [&](const Action& action) {
    return action.rules.size() == 1 && std::ranges::binary_search(move.rules, action.rules.front());
  });
  move.reason = time_text(there) + " a batch together under " + std::string(device.name()) + ", " +
                time_text(here) + " before";
  actions_.push_back(std::move(move));
}

}  // namespace

std::optional<Arrangement> side_by_side(const engine::Engine& a, const engine::Engine& b) {
  if (a.is_device() && b.divides_terminators()) return Arrangement{&a, &b};
  if (b.is_device() && a.divides_terminators()) return Arrangement{&b, &a};
  return std::nullopt;
}

bool is_waiting(const Ledger::Option& option, double now) {
  return is_warming_up(option, now) && is_over(option);
}

std::vector<Action> decide(const Ledger& ledger, std::span<const std::uint64_t> rules, double now) {
  Decision decision(ledger, now);
  for (const auto& proof : ledger.proofs()) decision.judge(*proof);
  for (const std::uint64_t serial : rules) {
    if (const Rule* const rule = ledger.find(serial)) decision.consider(serial, *rule);
  }
  decision.consider_together();
  return std::move(decision).actions();
}

}  // namespace gorgo::dispatch
