#pragma once

#include "engine/engine.hpp"

namespace gorgo::engine {

/// The operational definition of TESLA.md §4, step by step: every partial sequence of a state
/// before the next state, every candidate tested by every condition. The oracle of the
/// differential tests.
class ReferenceEngine final : public Engine {
 public:
  std::string_view name() const override { return "reference"; }
  bool divides_terminators() const override { return true; }
  std::vector<std::string> description() const override {
    return {"the definition of the language, literally: for tests"};
  }
  std::unique_ptr<Evaluator> prepare(std::shared_ptr<const plan::Plan> plan,
                                     history::History& history) const override;
};

}  // namespace gorgo::engine
