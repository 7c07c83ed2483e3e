#include "dispatch/placement/policy.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>

#include "base/time_text.hpp"
#include "dispatch/placement/tuning.hpp"

namespace gorgo::dispatch {
namespace {

using namespace tuning;
using Known = Ledger::Rule;
using Option = Ledger::Option;
using Kind = Directive::Kind;

bool is_warming_up(const Option& option, double now) {
  return option.is_warming_up && now - option.began < kWait;
}

/// Whether a trial has enough for the middle to decide.
bool is_over(const Option& option) {
  return option.ratios.is_enough() || (!option.ratios.empty() && option.took > kTry);
}

bool has_shifted(const Known& rule) {
  const double cost = rule.cost(), judged = rule.judged_cost;
  const bool has_drifted = judged > 0 && (cost > kDrift * judged || kDrift * cost < judged);
  return has_drifted || rule.batch > kGrown * rule.judged_batch;
}

/// What a terminator costs.
struct Cost {
  double evaluation, upkeep;
};

Cost cost_before(const Ledger::Proof& proof) {
  const auto& member = proof.members.front();
  return {member.cost - member.upkeep, member.upkeep};
}

Cost cost_on_proof(const Known& rule) {
  const double all = rule.proof->members.front().cost * rule.proof->ratios.median();
  return {std::max(all - rule.upkeep, all / 2), rule.upkeep};
}

/// What one more terminator adds to what a device takes, where an evaluation takes so long for each
/// of a batch. What was measured is the device's fixed cost and more, so at least half of it is
/// taken to grow with the terminators.
double added(double evaluation, const engine::Engine& device, double batch) {
  return std::max(evaluation / 2, evaluation - device.fixed_cost() / batch);
}

/// What a terminator costs with the engine, where an evaluation takes this part of what it takes on
/// the rule's own engine. `is_used`: the fixed cost of the device is there already.
double cost_there(const Known& rule, const Option& option, double ratio, bool is_used) {
  const double evaluation = rule.evaluation.value() * ratio;
  return (is_used ? added(evaluation, *option.engine, rule.batch) : evaluation) + option.upkeep;
}

/// The arrangement with a device and the CPU's other threads side by side. Each gets a share by its
/// speed, because a device has a fixed cost for any number of terminators. Unset unless one of the
/// engines is a device and the other shares terminators among threads.
std::optional<Arrangement> side_by_side(const engine::Engine& a, const engine::Engine& b) {
  if (a.is_device() && b.divides_terminators()) return Arrangement{&a, &b};
  if (b.is_device() && a.divides_terminators()) return Arrangement{&b, &a};
  return std::nullopt;
}

bool is_hindered(const Known& rule, const engine::Engine& engine) {
  const Option* const option = rule.find(&engine);
  return option != nullptr && option->is_hindered;
}

class Decision {
 public:
  Decision(const Ledger& ledger, double now) : ledger_(ledger), now_(now) {}

  void judge(const Ledger::Proof& proof);
  void consider(std::uint64_t serial, const Known& rule);
  void consider_together();
  void consider_sharing();
  std::vector<Directive> directives() && { return std::move(directives_); }

 private:
  void share_instead(Directive& drop);
  void leave(std::uint64_t serial, const Known& rule);
  void compare(std::uint64_t serial, const Known& rule, const Option& option);
  void begin_trial(std::uint64_t serial, const Known& rule);
  void go_together(const engine::Engine& device);
  double spoken_for();
  bool is_used(const engine::Engine& device) const;
  bool has_directive(Kind kind, std::uint64_t serial) const;
  void act(Kind kind, std::uint64_t serial, const Arrangement& where, std::string reason = {}) {
    directives_.push_back({kind, {serial}, where, std::move(reason)});
  }

  const Ledger& ledger_;
  const double now_;
  std::vector<Directive> directives_;
  std::vector<const engine::Engine*> asked_;  // devices about which more is known now
  std::optional<std::ptrdiff_t> under_way_;   // trials; counted when somebody asks, at all rules
};

/// What trials may still take that are under way.
double Decision::spoken_for() {
  if (!under_way_) {
    under_way_ = std::ranges::count_if(
        ledger_.rules(), [](const auto& known) { return known.second.tried() != nullptr; });
  }
  const auto begun = std::ranges::count(directives_, Kind::trial, &Directive::kind);
  return kTry * static_cast<double>(*under_way_ + begun);
}

/// Whether rules run on the device, so that one more does not make it dearer by its fixed cost.
bool Decision::is_used(const engine::Engine& device) const {
  return std::ranges::any_of(ledger_.rules(),
                             [&](const auto& known) { return known.second.now.engine == &device; });
}

bool Decision::has_directive(Kind kind, std::uint64_t serial) const {
  return std::ranges::any_of(directives_, [&](const Directive& directive) {
    return directive.kind == kind && directive.rules.front() == serial;
  });
}

/// What a terminator cost before is known only to within the noise of some time, so costs that are
/// close are compared for long, and then half of what a move has to promise must be kept.
void Decision::judge(const Ledger::Proof& proof) {
  const Ratios& ratios = proof.ratios;
  const bool is_over = !ratios.empty() && proof.took > kProof;
  const bool stays = ratios.upper() < kGain || (is_over && ratios.median() < (1 + kGain) / 2);
  const bool goes_back = !stays && (is_over || ratios.lower() * kGain > 1);
  for (const auto& member : proof.members) {
    const Known& rule = *ledger_.find(member.serial);
    if (stays || (goes_back && is_hindered(rule, *member.before.engine))) {
      if (rule.now.engine->is_device()) asked_.push_back(rule.now.engine);
      act(Kind::drop, member.serial, {member.before.engine});
    } else if (goes_back) {
      act(Kind::run, member.serial, member.before,
          "it took " + time_text(member.cost * ratios.median()) + " a terminator under " +
              rule.now.to_string() + ", " + time_text(member.cost) + " before");
    }
  }
}

/// An engine that is worse may still take a part of the rule's terminators. That is arranged
/// instead where it promises enough. Speeds add up, as where CPU and GPU share a join in Karnagel
/// et al., "Stream Join Processing on Heterogeneous Processors" (BTW 2013).
void Decision::share_instead(Directive& drop) {
  const std::uint64_t serial = drop.rules.front();
  const Known& rule = *ledger_.find(serial);
  const auto both = side_by_side(*rule.now.engine, *drop.where.engine);
  const bool is_alone = !rule.proof || rule.proof->members.size() == 1;
  const Option* const option = rule.tried();
  if (!both || !is_alone || !rule.is_divisible || rule.now.reserve != nullptr) return;
  if (!rule.proof && (option == nullptr || option->ratios.empty())) return;
  const Cost here = rule.proof ? cost_on_proof(rule) : Cost{rule.evaluation.value(), rule.upkeep};
  const Cost there = rule.proof ? cost_before(*rule.proof)
                                : Cost{here.evaluation * option->ratios.median(), option->upkeep};
  const bool is_device = rule.now.engine->is_device();
  const double device = is_device ? here.evaluation : there.evaluation;
  const double threads = is_device ? there.evaluation : here.evaluation;
  // The device has its fixed cost for any number of terminators, and both are done together.
  const double each = std::max(0.0, device - both->engine->fixed_cost() / rule.batch);
  const double shared = threads * device / (threads + each) + here.upkeep + there.upkeep;
  const double alone = here.evaluation + here.upkeep;
  if (shared >= kGain * kGain * alone) return;
  drop = {.kind = Kind::share,
          .rules = {serial},
          .where = *both,
          .reason = time_text(shared) + " a terminator under " + both->to_string() + ", " +
                    time_text(alone) + " under " + rule.now.to_string()};
}

void Decision::consider(std::uint64_t serial, const Known& rule) {
  if (is_hindered(rule, *rule.now.engine)) return leave(serial, rule);
  if (rule.proof || !rule.evaluation.is_known()) return;
  if (has_shifted(rule)) return act(Kind::run, serial, {rule.now.engine}, "the load has shifted");
  if (rule.now.reserve != nullptr) {
    const bool is_one_idle = rule.share < 1 - kGain || rule.share > kGain;
    if (!is_one_idle) return;
    return act(Kind::run, serial, {rule.share > kGain ? rule.now.reserve : rule.now.engine},
               "no longer shared");
  }
  if (const Option* const option = rule.tried()) return compare(serial, rule, *option);
  begin_trial(serial, rule);
}

/// Late events keep the rule's engine from doing what it is chosen for.
void Decision::leave(std::uint64_t serial, const Known& rule) {
  if (has_directive(Kind::run, serial) || has_directive(Kind::drop, serial)) return;
  const Arrangement there =
      rule.proof ? rule.proof->members.front().before : Arrangement{rule.options.front().engine};
  act(Kind::run, serial, there, "many events are late");
}

void Decision::compare(std::uint64_t serial, const Known& rule, const Option& option) {
  const Arrangement there{option.engine};
  if (option.is_hindered) return act(Kind::drop, serial, there, "many events are late");
  if (now_ - option.last > kWait) return act(Kind::drop, serial, there);
  const bool is_device = option.engine->is_device();
  const bool is_used = is_device && this->is_used(*option.engine);
  const auto promise = [&](double ratio) { return cost_there(rule, option, ratio, is_used); };
  if (option.ratios.empty()) return;
  const double here = rule.cost(), middle = promise(option.ratios.median());
  const bool is_over = dispatch::is_over(option);
  const std::string costs = time_text(middle) + " a terminator under " + there.to_string() + ", " +
                            time_text(here) + " under " + rule.now.to_string();
  if (promise(option.ratios.upper()) < kGain * here || (is_over && middle < kGain * here)) {
    return act(Kind::run, serial, there, costs);
  }
  const bool is_worse = is_over || promise(option.ratios.lower()) > kGain * here;
  if (!is_worse || is_warming_up(option, now_)) return;
  if (is_device) asked_.push_back(option.engine);
  act(Kind::drop, serial, there, costs);
}

/// Has an engine tried that may be: the one that has been left alone for longest.
void Decision::begin_trial(std::uint64_t serial, const Known& rule) {
  const Option* next = nullptr;
  for (const Option& option : rule.options) {
    if (option.engine == rule.now.engine || option.ability != Option::Ability::able) continue;
    if (option.is_hindered) continue;
    if (!option.engine->is_device() && now_ < kEagerFor) continue;
    if (std::max(kTry, option.until) > rule.total || option.start + kTry > kPause) continue;
    if (next == nullptr || option.until < next->until) next = &option;
  }
  if (next == nullptr || next->start + kTry + spoken_for() > ledger_.credit) return;
  act(Kind::trial, serial, {next->engine});
}

void Decision::consider_sharing() {
  for (Directive& directive : directives_) {
    if (directive.kind == Kind::drop) share_instead(directive);
  }
}

void Decision::consider_together() {
  std::ranges::sort(asked_);
  asked_.erase(std::unique(asked_.begin(), asked_.end()), asked_.end());
  for (const engine::Engine* const device : asked_) go_together(*device);
}

/// Has rules go to the device of which none would do better there alone: the device has its fixed
/// cost once for all of them. Each of them has been tried.
void Decision::go_together(const engine::Engine& device) {
  double here = 0, there = is_used(device) ? 0 : device.fixed_cost();
  Directive move{.kind = Kind::run, .rules = {}, .where = {&device}, .reason = {}};
  for (const auto& [serial, rule] : ledger_.rules()) {
    const Option* const option = rule.find(&device);
    const bool is_free = !rule.proof && rule.now.reserve == nullptr && rule.now.engine != &device &&
                         rule.evaluation.is_known() && !has_directive(Kind::run, serial);
    if (!is_free || option == nullptr || option->ratios.empty()) continue;
    const bool is_tried = option->is_tried && !has_directive(Kind::drop, serial);
    const double added = cost_there(rule, *option, option->ratios.median(), true);
    if (is_tried || added >= kGain * rule.cost()) continue;
    move.rules.push_back(serial);
    here += rule.batch * rule.cost();
    there += rule.batch * added;
  }
  if (move.rules.empty() || there >= kGain * here) return;
  std::erase_if(directives_, [&](const Directive& directive) {
    return directive.rules.size() == 1 &&
           std::ranges::binary_search(move.rules, directive.rules.front());
  });
  move.reason = time_text(there) + " a batch together under " + std::string(device.name()) + ", " +
                time_text(here) + " before";
  directives_.push_back(std::move(move));
}

}  // namespace

bool is_waiting(const Ledger::Option& option, double now) {
  return is_warming_up(option, now) && is_over(option);
}

std::vector<Directive> decide(const Ledger& ledger, std::span<const std::uint64_t> rules,
                              double now) {
  Decision decision(ledger, now);
  for (const auto& proof : ledger.proofs()) decision.judge(*proof);
  for (const std::uint64_t serial : rules) {
    if (const Known* const rule = ledger.find(serial)) decision.consider(serial, *rule);
  }
  decision.consider_together();
  decision.consider_sharing();
  return std::move(decision).directives();
}

}  // namespace gorgo::dispatch
