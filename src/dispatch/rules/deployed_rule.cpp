#include "dispatch/rules/deployed_rule.hpp"

namespace gorgo::dispatch {

bool DeployedRule::is_absent(std::span<const history::EventRef> sequence) const {
  const auto& negations = rule().negations;
  for (std::uint32_t i = 0; i < negations.size(); ++i) {
    if (negations[i].span.kind != SpanKind::after) continue;
    if (!placement.entry().evaluators.front()->is_absent(i, sequence, state)) return false;
  }
  return true;
}

}  // namespace gorgo::dispatch
