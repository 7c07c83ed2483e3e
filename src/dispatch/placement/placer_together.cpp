#include <algorithm>
#include <limits>

#include "dispatch/placement/placer.hpp"

namespace gorgo::dispatch {
namespace {

/// Nanoseconds that all rules together may take to begin, and that a batch of all of them may take.
constexpr double kLongestStart = 20e6, kLongestBatch = 20e6;
constexpr std::size_t kMost = 1000;  // rules
constexpr double kLonger = 2, kLongestIntervalTogether = 10e9;

}  // namespace

/// Looks for rules to attempt on a device together. One rule alone may have nothing to win there
/// where all have: the device has its fixed cost once for all of them, and an index is kept as long
/// as one of them uses it.
void Placer::consider_together(Timestamp clock) {
  together_.spent = 0;
  const auto is_in_use = [](const DeployedRule& rule) { return rule.state.terminators > 0; };
  if (std::ranges::none_of(rules_.rules(), is_in_use)) return;
  together_.interval = std::min(kLonger * together_.interval, kLongestIntervalTogether);
  for (const std::string_view name : options_.choices) {
    const engine::Engine& engine = *engine::find_engine(name);
    if (!engine.is_device() || !engine.is_ready()) continue;
    std::vector<std::uint32_t> rules = who_might_go_to(engine, clock);
    if (rules.size() < 2) continue;
    const auto most = std::ranges::max_element(
        rules, {}, [this](std::uint32_t rule) { return rules_.rules()[rule].state.terminators; });
    const std::uint32_t first = *most;
    rules.erase(most);
    others_ = std::move(rules);
    heavy_[first].candidates = {
        {{&engine}, {.hope = std::numeric_limits<double>::max(), .least = 0}}};
    return begin_attempt(first);
  }
}

/// The rules that might go to the device together; none where it would take long to find out.
std::vector<std::uint32_t> Placer::who_might_go_to(const engine::Engine& device, Timestamp clock) {
  std::vector<std::uint32_t> rules;
  if (rules_.size() > kMost) return rules;
  double start = 0, batch = 0;
  for (std::uint32_t index = 0; index < rules_.rules().size(); ++index) {
    DeployedRule& rule = rules_.rules()[index];
    Placement& placement = rule.placement;
    if (!placement.is_automatic() || placement.engine().is_device()) continue;
    if (rule.state.terminators == 0) continue;
    if (!placement.at(device).estimate) estimate_costs(rule, heavy_[index], clock);
    const auto estimate = placement.at(device).estimate;
    if (!estimate || !device.declined(*rule.plan).empty()) continue;
    start += estimate->start;
    batch += estimate->terminator * placement.batch();
    if (start > kLongestStart || batch > kLongestBatch) return {};
    rules.push_back(index);
  }
  return rules;
}

}  // namespace gorgo::dispatch
