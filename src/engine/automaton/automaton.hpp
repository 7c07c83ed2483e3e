#pragma once

#include "engine/cpu_engine.hpp"

namespace gorgo::engine {

/// Automata-based incremental processing (AIP: Cugola and Margara, "Low latency complex event
/// processing on parallel hardware", JPDC 2012, section 4.1): events are taken in oldest first, and
/// every partial sequence that they make is kept until its window has passed, so that a terminator
/// finds its sequences begun. Late events, and rules that would keep more than `max_sequences`
/// partial sequences, are left to the scans of `column-scan` (Evaluator::declined).
class AutomatonEngine final : public CpuEngine {
 public:
  std::string_view name() const override { return "automaton"; }
  std::vector<std::string> description() const override {
    return {"keeps the partial sequences that events have begun"};
  }
  bool divides_terminators() const override { return false; }
  bool bears_late_events() const override { return false; }
  std::string reason_to_decline(const plan::Plan& plan) const override;
  std::unique_ptr<CpuEvaluator> make(std::shared_ptr<const plan::Plan> plan,
                                     history::History& history) const override;
};

}  // namespace gorgo::engine
