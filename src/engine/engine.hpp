#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/composite_sink.hpp"
#include "engine/rule_state.hpp"
#include "history/history.hpp"
#include "plan/plan.hpp"

namespace gorgo::engine {

/// Returns a holder's part of the memory of something shared. The history's own hold does not
/// count.
template <class T>
std::size_t share_of(const std::shared_ptr<const T>& shared) {
  return shared->bytes() / static_cast<std::size_t>(std::max(1L, shared.use_count() - 1));
}

/// What tells an evaluation to return early, besides its sink (`CompositeSink::has_room`).
struct Budget {
  /// Set from outside to give up soon, even inside a terminator. May be null.
  const std::atomic<bool>* stop = nullptr;

  bool stopped() const { return stop != nullptr && stop->load(std::memory_order_relaxed); }
};

/// Terminators of a rule, in place order.
struct Terminators {
  std::span<const history::Slot> slots;
  /// Whether time alone tells what stands before each: no event of the history that was released
  /// later has an earlier timestamp.
  bool in_order = true;
};

/// Terminators that an engine left to `column-scan`, because its own way would not have been right
/// or not have been small.
struct Declined {
  std::uint64_t terminators = 0;
  std::string_view reason;  ///< the last one; valid as long as the evaluator
};

/// One rule as one engine evaluates it. Holds only what can be rebuilt from plan and history.
class Evaluator {
 public:
  virtual ~Evaluator() = default;

  /// Fetches what `evaluate` touches first; a hint.
  virtual void prefetch() const {}

  /// Evaluates terminators, which satisfy the conditions of state 0, as TESLA.md §4 defines, and
  /// reports every composite to `sink`. Returns how many terminators are done: fewer than all when
  /// the sink has no room for more, or because of `stop`. A terminator that was given up is not
  /// done and has left nothing behind.
  /// The history must not change meanwhile. Evaluators of the same or other rules may be at work on
  /// other threads.
  virtual std::size_t evaluate(const Terminators& terminators, const RuleState& state,
                               const Budget& budget, CompositeSink& sink) = 0;

  /// Whether the absence that the negation demands (a `within ... after`) holds for a complete
  /// sequence, as far as the events placed so far tell.
  virtual bool is_absent(std::uint32_t negation, std::span<const history::EventRef> sequence,
                         const RuleState& state) = 0;

  /// Its own memory and its part of that of the columns that it holds.
  virtual std::size_t bytes() const = 0;

  virtual Declined declined() const { return {}; }
};

/// An evaluation that is about to be asked for.
struct Announcement {
  Evaluator* evaluator;
  Terminators terminators;
  const RuleState* state;
};

/// A way to evaluate plans. All engines give the same composites in the same order.
class Engine {
 public:
  virtual ~Engine() = default;
  virtual std::string_view name() const = 0;
  /// Whether the terminators of a rule may go to several of its evaluators, some to each.
  virtual bool divides_terminators() const = 0;
  /// What a call costs at least, in nanoseconds. An engine whose calls cost anything wants the
  /// rules of a batch together, on a thread of its own, and no calls for few terminators.
  virtual double fixed_cost() const { return 0; }
  /// Whether it can be asked for `declined` and evaluators without a wait. If not, it begins to get
  /// ready.
  virtual bool is_ready() const { return true; }
  /// Whether evaluations are slower than they are going to be, so that their times say little.
  virtual bool is_warming_up() const { return false; }
  /// Waits for what `is_ready` began. Call it before the process ends: otherwise the libraries of a
  /// device would be torn down beneath a thread that opens it.
  virtual void settle() const {}
  /// Says what it is, then what it has on this machine or lacks, a line each.
  virtual std::vector<std::string> description() const = 0;
  /// Why the engine leaves a plan to the `column` engine; empty if it evaluates the plan itself.
  virtual std::string declined(const plan::Plan&) const { return {}; }
  /// A hint: `evaluate` is going to be called for each of these. No two of them share an evaluator,
  /// and neither history nor states change before. An engine may do them together, on up to
  /// `threads` threads. Gives up soon when `stop` is set.
  virtual void announce(std::span<const Announcement>, unsigned /*threads*/,
                        const std::atomic<bool>& /*stop*/) const {}
  /// `history` keeps every type that the plan reads and, like the plan, outlives the evaluator.
  virtual std::unique_ptr<Evaluator> prepare(std::shared_ptr<const plan::Plan> plan,
                                             history::History& history) const = 0;
};

/// Every engine of this build, the default first.
std::span<const Engine* const> engines();
/// Null when there is no engine of this name.
const Engine* find_engine(std::string_view name);

}  // namespace gorgo::engine
