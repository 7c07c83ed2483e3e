#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "engine/rule_state.hpp"
#include "gorgo/schema.hpp"
#include "gorgo/why.hpp"
#include "history/history.hpp"
#include "plan/plan.hpp"

namespace gorgo::dispatch {

/// What a rule remembers besides the history, as far as it says what became of its terminators.
struct Remembered {
  explicit Remembered(const engine::RuleState& state);

  std::vector<engine::ConsumedSlots> consumed;  ///< by state of the rule
  std::optional<Timestamp> deployed_at;         ///< see RuleState, as the two that follow
  std::optional<Timestamp> timer_from, timer_at;
  std::vector<history::Slot> waiting;  ///< terminators of pending composites
  std::vector<engine::DecidedComposite> decided;
  std::vector<engine::CutComposites> cut;
  engine::TerminatorCounts counts;
  std::uint64_t terminators = 0, composites = 0;  ///< so far
};

/// Terminators of a rule that are to be evaluated again.
struct Reenacted {
  const std::shared_ptr<const plan::Plan>& plan;
  const Schema& schema;
  const Remembered& state;
  history::Slot first_terminator;         ///< events before it came before the rule
  std::span<const history::Slot> newest;  ///< terminators, descending
  /// Which of the events that `every` counts for a terminator each of these is; 0: it has not
  /// counted it.
  std::span<const std::uint64_t> numbers;
  Duration max_time;  ///< see WhyOptions
};

/// Evaluates terminators again, as the rule saw them, with the reference engine and over what the
/// history remembers of the types that it reads, and adds what became of them. Gives up soon when
/// `stop` is set, or the time is over.
void explain_terminators(const Reenacted& rule, history::History& history,
                         const std::atomic<bool>& stop, Why& why);

}  // namespace gorgo::dispatch
