#include "engine/cuda/separate_negations.hpp"

#include "engine/window.hpp"

namespace gorgo::engine {

void SeparateNegations::request(SearchQueue& queue) {
  const auto& negations = input_.plan.plan->states[choice_.state()].negations;
  if (negations.empty()) return;
  const auto candidates = choice_.candidates();
  for (std::uint32_t c = 0; c < candidates.size(); ++c) {
    if (candidates[c].is_verified) continue;
    const auto sequence = choice_.sequence_of(candidates[c]);
    for (const std::uint32_t negation : negations) {
      DeviceScan& scan = input_.plan.negations[negation];
      const Interval interval = interval_of(input_.rule().negations[negation].span, sequence);
      const history::Range range = input_.window(scan, interval);
      if (range.empty()) continue;
      queue.add({.owner = this,
                 .scan = &scan,
                 .range = range,
                 .want = gpu::Want::oldest,
                 .limit = 1,
                 .subject = c});
    }
  }
}

}  // namespace gorgo::engine
