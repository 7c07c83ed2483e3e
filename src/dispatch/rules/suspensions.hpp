#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "dispatch/rules/rule_set.hpp"
#include "dispatch/rules/throttle.hpp"
#include "gorgo/result.hpp"

namespace gorgo::dispatch {

/// Suspends rules that have used up their time, and takes them up again when their second is over.
/// It does so between two calls of `process` only: then all that came before was evaluated without
/// the change and all that comes behind is with it, however batches are cut. So a program that
/// notes each change can bring the same results about again.
class Suspensions {
 public:
  using Clock = Throttle::Clock;
  /// Is asked before each change; false: the rule stays as it is for now.
  using May = std::function<bool(const std::string& rule, bool suspended)>;

  /// `most`: of one rule in a second, in nanoseconds, on all threads; 0: no limit.
  Suspensions(RuleSet& rules, Duration most, May may)
      : rules_(rules), most_(most), may_(std::move(may)) {}

  bool is_limited() const { return most_ > 0; }
  /// Evaluations of the rule took so long. Precondition: `is_limited()`.
  void spend(std::uint32_t rule, double nanoseconds, Clock::time_point now);
  /// Precondition: nothing is pending.
  void review();
  /// As somebody else has decided. An error: there is no such rule. Precondition as above.
  Result<void> set(std::string_view rule, bool suspended);
  /// The rules were brought back, some of them suspended.
  void restored();

 private:
  RuleSet& rules_;
  const Duration most_;
  const May may_;
  std::set<std::uint64_t> watched_;  // serials of rules that are suspended or are to be
};

}  // namespace gorgo::dispatch
