#include "dispatch/placement/prospects.hpp"

#include <algorithm>
#include <functional>
#include <utility>

#include "dispatch/placement/cost_model.hpp"

namespace gorgo::dispatch {
namespace {

/// An engine is worth a trial if its estimate is at most `kWorthTrial` times that of the present
/// one, because the model is better at comparing engines than at costs. It is also worth one if its
/// estimate is far below the measured cost of the present engine, because then the model misses
/// something about the load.
constexpr double kWorthTrial = 2.5, kFarBelow = 0.5;
/// A trial begins when there is time for so many batches, as far as the estimate tells, but for no
/// more nanoseconds than `kMostAhead`: it may run into debt.
constexpr double kBatches = 4, kMostAhead = 4e6;
constexpr std::size_t kMostTogether = 1000;  // rules

}  // namespace

Prospects::Engines Prospects::for_rule(std::uint32_t number, Timestamp clock,
                                       const std::function<bool(std::string_view)>& is_allowed) {
  estimate_costs(number, clock);
  Engines engines;
  for (const std::string_view name : choices_) {
    const engine::Engine* const engine = engine::find_engine(name);
    if (engine == &placement(number).engine() || !is_allowed(name)) continue;
    if (!engine->is_ready() || !engine->declined(*rules_.rule(number).plan).empty()) continue;
    if (is_worth_trying(number, *engine)) engines.push_back(engine);
  }
  std::ranges::sort(engines, std::greater(),
                    [&](const engine::Engine* engine) { return estimated(number, *engine); });
  return engines;
}

bool Prospects::are_engines_ready() const {
  return std::ranges::all_of(
      choices_, [](std::string_view name) { return engine::find_engine(name)->is_ready(); });
}

std::vector<std::uint32_t> Prospects::for_device(
    const engine::Engine& device, Timestamp clock,
    const std::function<bool(std::uint32_t)>& is_left_out) {
  std::vector<std::uint32_t> numbers;
  if (rules_.size() > kMostTogether) return numbers;
  double start = 0;
  for (std::uint32_t number = 0; number < rules_.numbers(); ++number) {
    const DeployedRule& rule = rules_.rule(number);
    Placement& placement = this->placement(number);
    if (!placement.is_automatic() || placement.engine().is_device()) continue;
    if (rule.state.terminators == 0 || is_left_out(number)) continue;
    if (!placement.at(device).estimate) estimate_costs(number, clock);
    const auto estimate = placement.at(device).estimate;
    if (!estimate || !device.declined(*rule.plan).empty()) continue;
    start += estimate->start;
    if (start > kLongestPause) return {};
    numbers.push_back(number);
  }
  return numbers;
}

double Prospects::trial_of(std::uint32_t number, const engine::Engine& engine) const {
  const double batch = placement(number).batch() * estimated(number, engine);
  return placement(number).at(engine).estimate->start + std::min(kBatches * batch, kMostAhead);
}

void Prospects::estimate_costs(std::uint32_t number, Timestamp clock) {
  const DeployedRule& rule = rules_.rule(number);
  const Seen now{rule.state.terminators, clock};
  const Seen before = std::exchange(seen_[rule.serial], now);
  Load load =
      load_of(*rule.plan, history_, static_cast<double>(now.terminators - before.terminators),
              static_cast<double>(now.clock - before.clock), rule.placement.batch());
  load.has_rates = before.terminators > 0;
  for (const std::string_view name : choices_) {
    placement(number).at(*engine::find_engine(name)).estimate = estimate(name, load);
  }
}

void Prospects::catch_up_with_changes() {
  std::erase_if(seen_, [&](const auto& seen) { return !rules_.number_of(seen.first); });
}

bool Prospects::is_worth_trying(std::uint32_t number, const engine::Engine& engine) const {
  Placement& placement = this->placement(number);
  const auto own = placement.entry().estimate, other = placement.at(engine).estimate;
  if (!other || other->start > kLongestPause) return false;
  if (!own) return true;  // the rule was pinned to an engine that is not modelled
  return estimated(number, engine) <=
         std::max(kWorthTrial * estimated(number, placement.engine()),
                  kFarBelow * cost_of(placement.entry(), parallelism_));
}

/// What a terminator is estimated to cost, evaluation and upkeep.
double Prospects::estimated(std::uint32_t number, const engine::Engine& engine) const {
  const auto estimate = placement(number).at(engine).estimate;
  return estimate ? parallelism_.wall(engine, estimate->terminator) + estimate->upkeep : 0;
}

}  // namespace gorgo::dispatch
