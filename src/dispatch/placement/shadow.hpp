#pragma once

#include <atomic>
#include <optional>
#include <span>
#include <string>

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
/// rule's state. This shows what they cost there, and whether the outcome is the same.
class Shadow {
 public:
  /// `threads`: how many a device may use.
  Shadow(const std::atomic<bool>& stop, unsigned threads) : stop_(stop), threads_(threads) {}

  /// Keeps what the rule has consumed; to be called before the terminators are evaluated. False: it
  /// is too much, and the rule must not be shadowed.
  bool remember(const DeployedRule& rule);
  struct Done {
    std::size_t terminators = 0;
    double took = 0;  ///< nanoseconds
  };
  /// How long `post` takes for the terminators, or for the first of them if all take longer than
  /// about `most` nanoseconds. To be called after `remember`, while the history is as it was.
  /// Precondition: the post has an evaluator.
  Done evaluate(const DeployedRule& rule, Post& post, const engine::Terminators& terminators,
                double most);
  struct Difference {
    history::Slot terminator;  ///< the first that the outcomes differ about
    std::string text;          ///< for people
  };
  /// What differs between the last evaluation and that of the rule's own engine, if anything.
  /// `terminators`: those that the last evaluation has done.
  std::optional<Difference> difference(const DeployedRule& rule, const Schema& schema,
                                       std::span<const history::Slot> terminators,
                                       const Outcome& outcome) const;

 private:
  const std::atomic<bool>& stop_;
  const unsigned threads_;
  std::optional<engine::RuleState> state_;
  engine::CompositeSink sink_;
  Outcome outcome_;  // of the last evaluation
};

}  // namespace gorgo::dispatch
