#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "dispatch/rules/rule_set.hpp"
#include "engine/composite_sink.hpp"

namespace gorgo::dispatch {

/// What an evaluation gave: composites of a rule by terminator, from one sink or several.
struct Outcome {
  struct Part {
    const engine::CompositeSink* sink;
    std::size_t first_composite, end_composite;
    std::size_t first_terminator;  ///< what the sink counts from
  };
  std::vector<Part> parts;
};

/// Evaluates terminators of a rule once more, under another engine, without leaving a trace in the
/// rule's state, and says whether the outcome is the same.
class TrialEvaluation {
 public:
  /// Keeps what the rule has consumed and produced; to be called before the terminators are
  /// evaluated. False: it is too much, and the rule must not be tried.
  bool remember(const DeployedRule& rule);

  /// Evaluates the terminators, after `remember` and while the history is as it was. An engine of
  /// the CPU stops behind `most` nanoseconds; a device evaluates all of them together.
  /// Precondition: the entry has an evaluator.
  void evaluate(const DeployedRule& rule, const EngineEntry& entry,
                const engine::Terminators& terminators, const engine::Budget& budget, double most);
  /// How many of these terminators are done.
  std::size_t done() const { return done_; }

  struct Difference {
    history::Slot terminator;  ///< the first that the outcomes differ about
    std::string text;          ///< for people
  };
  /// What differs between what was taken and the outcome of the rule's own engine, if anything.
  /// `terminators`: those that are done.
  std::optional<Difference> difference(const DeployedRule& rule, const Schema& schema,
                                       std::span<const history::Slot> terminators,
                                       const Outcome& outcome) const;

 private:
  std::optional<engine::RuleState> state_;
  engine::CompositeSink sink_;
  Outcome outcome_;
  std::size_t done_ = 0;
};

}  // namespace gorgo::dispatch
