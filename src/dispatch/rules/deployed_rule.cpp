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

void DeployedRule::add_to_panes(TypeId type, const history::EventStore& store,
                                history::Slot first) {
  for (std::size_t i = 0; i < plan->aggregates.size(); ++i) {
    if (plan->aggregates[i].panes == 0 || rule().aggregates[i].predicate.type != type) continue;
    state.own_timed().panes[i].add(*plan, i, store, first, state.deployed_at);
  }
}

/// Every instant up to the clock has been evaluated.
void DeployedRule::forget_panes(Timestamp clock) {
  const std::int64_t now = plan->panes->pane_of(clock);
  for (std::size_t i = 0; i < plan->aggregates.size(); ++i) {
    if (plan->aggregates[i].panes == 0) continue;
    state.own_timed().panes[i].forget_before(now - plan->aggregates[i].panes);
  }
}

}  // namespace gorgo::dispatch
