#include "dispatch/rules/deployed_rule.hpp"

#include <cstddef>

namespace gorgo::dispatch {

void DeployedRule::prefetch() const {
  constexpr std::size_t kLine = 64;
  const auto* const first = reinterpret_cast<const std::byte*>(this);
  const auto* const last = reinterpret_cast<const std::byte*>(&serial);
  for (const auto* line = first; line < last; line += kLine) __builtin_prefetch(line);
}

bool DeployedRule::is_absent(std::span<const history::EventRef> sequence) const {
  const auto& negations = rule().negations;
  for (std::uint32_t i = 0; i < negations.size(); ++i) {
    if (negations[i].span.kind != SpanKind::after) continue;
    if (!placement.entry().evaluators.front()->is_absent(i, sequence, state)) return false;
  }
  return true;
}

}  // namespace gorgo::dispatch
