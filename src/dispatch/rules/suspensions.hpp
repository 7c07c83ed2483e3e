#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "dispatch/rules/rule_set.hpp"
#include "dispatch/rules/throttle.hpp"
#include "gorgo/processor.hpp"
#include "gorgo/result.hpp"

namespace gorgo::dispatch {

/// Suspends rules that have used up their time, and takes them up again when their second is over.
/// It does so between two calls of `process` only: then all that came before was evaluated without
/// the change and all that comes behind is with it, however batches are cut. So a program that
/// notes each change can bring the same results about again.
///
/// A rule that found no memory is suspended in the middle of a batch. The terminator that needed
/// the memory is told by its root and by the number of terminators that the rule had before, which
/// are the same however batches are cut.
class Suspensions {
 public:
  using Clock = Throttle::Clock;
  /// Is asked before each change; false: the rule stays as it is for now.
  using May = std::function<bool(const std::string& rule, bool suspended)>;

  /// Is asked before a rule is suspended that found no memory; false: it cannot be.
  using MayStarve = std::function<bool(const Starvation&)>;

  /// `most`: of one rule in a second, in nanoseconds, on all threads; 0: no limit.
  Suspensions(RuleSet& rules, Duration most, May may, MayStarve may_starve)
      : rules_(rules), most_(most), may_(std::move(may)), may_starve_(std::move(may_starve)) {}

  bool is_limited() const { return most_ > 0; }
  /// Evaluations of the rule took so long. Precondition: `is_limited()`.
  void spend(std::uint32_t rule, double nanoseconds, Clock::time_point now);
  /// Precondition: nothing is pending.
  void review();
  /// As somebody else has decided. An error: there is no such rule. Precondition as above.
  Result<void> set(std::string_view rule, bool suspended);

  /// There is no memory for the rule's next terminator, which has this root. Suspends the rule;
  /// false: it may not.
  bool starve(std::uint32_t rule, std::uint64_t root);
  /// A rule is to be suspended there again. Those of one rule come in their order.
  void expect(Starvation starvation);
  /// Where that is the next time; null: nowhere. Valid until the next change.
  const Starvation* next_expected(std::uint32_t rule) const {
    return expected_.empty() ? nullptr : find_expected(rule);
  }
  /// The rule has come there. Precondition: there is such a place.
  void carry_out(std::uint32_t rule);

  /// The rules were brought back, some of them suspended.
  void restored();

 private:
  const Starvation* find_expected(std::uint32_t rule) const;

  RuleSet& rules_;
  const Duration most_;
  const May may_;
  const MayStarve may_starve_;
  std::map<std::string, std::deque<Starvation>, std::less<>> expected_;  // by rule; none is empty
  std::set<std::uint64_t> watched_;  // serials of rules that are suspended or are to be
};

}  // namespace gorgo::dispatch
