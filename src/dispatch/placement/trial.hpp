#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "dispatch/placement/comparison.hpp"
#include "dispatch/placement/costs.hpp"
#include "dispatch/placement/shadow.hpp"
#include "dispatch/rules/rule_set.hpp"

namespace gorgo::dispatch {

/// What a rule's own engine gave for some terminators.
struct Evaluated {
  std::uint32_t rule;
  engine::Terminators terminators;  ///< all of them are done
  Outcome outcome;
  double took;  ///< nanoseconds of one thread
};

/// An engine that is tried for a rule, or for several rules at once, beside their own: what it
/// costs, and whether the outcome is the same. Several rules are tried together on a device, which
/// has its fixed cost once for all of them.
class Trial {
 public:
  /// Precondition: each rule has an evaluator of the engine.
  Trial(const engine::Engine& engine, std::span<const std::uint32_t> numbers, const RuleSet& rules);

  struct Member {
    std::uint32_t rule;  ///< its number
    std::uint64_t serial;
    Shadow shadow;
    std::uint64_t terminators = 0;  ///< compared so far
    double own = 0;                 ///< nanoseconds that they took on the rule's own engine
  };

  const engine::Engine& engine() const { return engine_; }
  std::span<Member> members() { return members_; }
  std::span<const Member> members() const { return members_; }
  Member& member(std::uint32_t rule);
  /// Whether one of the rules has gone, was pinned or has another number.
  bool has_lost_rules(const RuleSet& rules) const;
  const Comparison& comparison() const { return comparison_; }
  bool is_of_several() const { return members_.size() > 1; }

  /// Whether evaluations of the engine say little yet, because it gets something ready.
  bool is_warming_up() const;
  /// Whether the trial leaves out this batch, to wait for that.
  bool waits();
  /// Evaluates the terminators once more. For one rule on the CPU it stops behind `most`
  /// nanoseconds. Returns how long it took.
  double evaluate(RuleSet& rules, std::span<const Evaluated* const> own, double most,
                  const std::atomic<bool>& stop, unsigned threads);
  /// Takes the costs of the last evaluation into account. True: there is enough to judge by.
  bool compare(const RuleSet& rules, std::span<const Evaluated* const> own, double took,
               const Parallelism& parallelism);

  /// Counts a batch. Returns whether there was none with terminators for so long that the trial
  /// should be given up.
  bool is_quiet() { return ++idle_ > kPatience; }
  /// Adds nanoseconds that the trial itself has taken.
  void charge(double nanoseconds) { spent_ += nanoseconds; }
  double spent() const { return spent_; }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::size_t kPatience = 256;  // batches
  /// The engine may take so long to take in what is remembered.
  static constexpr std::chrono::milliseconds kLongestPause{20};

  const engine::Engine& engine_;
  std::vector<Member> members_;  // by rule, ascending
  std::vector<engine::Request> requests_;
  Comparison comparison_;
  std::size_t evaluations_ = 0;
  bool has_caught_up_ = false;  // false: the next evaluation is not counted
  bool gave_up_ = false;        // the engine could not take in what is remembered in time
  Clock::time_point start_ = Clock::now();
  std::size_t idle_ = 0;  // batches since the last evaluation
  double spent_ = 0;

  void count_without_outcome(const Evaluated& own, double took, double wall);
  void evaluate_some(RuleSet& rules, const Evaluated& own, double most,
                     const engine::Budget& budget);
};

}  // namespace gorgo::dispatch
