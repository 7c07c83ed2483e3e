#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/composite_sink.hpp"
#include "engine/rule_state.hpp"
#include "engine/window.hpp"
#include "history/history.hpp"
#include "plan/plan.hpp"

namespace gorgo::engine {

/// Returns a holder's part of the memory of something shared. The history's own hold does not
/// count.
template <class T>
std::size_t share_of(const std::shared_ptr<const T>& shared) {
  return shared->bytes() / static_cast<std::size_t>(std::max(1L, shared.use_count() - 1));
}

/// What an evaluation may use, and what tells it to return early besides its sink
/// (`CompositeSink::has_room`).
struct Budget {
  /// Set from outside to give up soon, even inside a terminator. May be null.
  const std::atomic<bool>* stop = nullptr;
  /// How many threads an engine may use, the caller's included.
  unsigned threads = 1;
  /// When an engine that is still taking in what is remembered gives that up, so that it does not
  /// hold up everything else; unset: never.
  std::optional<std::chrono::steady_clock::time_point> until;

  bool is_late() const { return until && std::chrono::steady_clock::now() > *until; }
  bool stopped() const { return stop != nullptr && stop->load(std::memory_order_relaxed); }
};

/// Terminators of a rule, in place order.
struct Terminators {
  std::span<const history::Slot> slots;
  /// Time alone tells what stands before each, as far as events with earlier timestamps than this
  /// are concerned: none of those was released behind a terminator with a later timestamp.
  Timestamp ordered_before = kEndOfTime;

  bool in_order() const { return ordered_before == kEndOfTime; }
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

  /// Whether the absence that the negation demands (a `within ... after`) holds for a complete
  /// sequence, as far as the events placed so far tell.
  virtual bool is_absent(std::uint32_t negation, std::span<const history::EventRef> sequence,
                         const RuleState& state) = 0;

  /// Its own memory and its part of that of the columns that it holds.
  virtual std::size_t bytes() const = 0;
  /// Its part of what it has taken so far to keep up to date what it searches, in nanoseconds by
  /// the clock on the wall. The difference of two calls is meaningful.
  virtual double upkeep() { return 0; }

  virtual Declined declined() const { return {}; }
};

/// Terminators of a rule that an engine is to evaluate, and what became of them.
struct Request {
  Evaluator* evaluator = nullptr;  ///< made by the engine for the rule
  const Rule* rule = nullptr;
  RuleState* state = nullptr;
  Terminators terminators;                      ///< they satisfy the conditions of state 0
  CompositeSink* sink = nullptr;                ///< requests of one call may share it
  bool keep_sequences = false;                  ///< see CompositeSink::begin_rule
  std::uint32_t certain = CompositeSink::kAll;  ///< see CompositeSink::begin_rule
  bool timed = false;                           ///< whether `took` is wanted

  // The engine sets the members below.
  bool over = false;     ///< the request has had its turn
  bool starved = false;  ///< there was no memory for the terminator behind those that are done
  std::size_t done = 0;  ///< the first of the terminators are done, so many
  std::size_t first_composite = 0, end_composite = 0;  ///< in the sink
  std::uint64_t overflows = 0;                         ///< terminators with too many sequences
  double took = 0;                                     ///< nanoseconds; 0: not measured
};

/// A way to evaluate plans. All engines give the same composites in the same order.
class Engine {
 public:
  virtual ~Engine() = default;
  virtual std::string_view name() const = 0;
  /// Whether the terminators of a rule may go to several of its evaluators, some to each.
  virtual bool divides_terminators() const = 0;
  /// Whether each call of `evaluate` has a fixed cost. Such an engine wants the requests of all
  /// rules together, on a thread of its own, and no calls for few terminators.
  virtual bool is_device() const { return false; }
  /// What a call of `evaluate` costs at least, in nanoseconds; 0 unless it is a device.
  virtual double fixed_cost() const { return 0; }
  /// Whether it can be asked for `reason_to_decline` and evaluators without a wait. If not, it
  /// begins to get ready.
  virtual bool is_ready() const { return true; }
  /// Whether evaluations are slower than they are going to be, so that their times say little.
  virtual bool is_warming_up() const { return false; }
  /// Waits for what `is_ready` began. Call it before the process ends: otherwise the libraries of a
  /// device would be torn down beneath a thread that opens it.
  virtual void settle() const {}
  /// Whether late events cost it little more than others. Rules that are free to move leave an
  /// engine which they cost much.
  virtual bool bears_late_events() const { return true; }
  /// Says what it is, then what it has on this machine or lacks, a line each.
  virtual std::vector<std::string> description() const = 0;
  /// Why the engine leaves a plan to the `column` engine; empty if it evaluates the plan itself.
  virtual std::string reason_to_decline(const plan::Plan&) const { return {}; }
  /// Evaluates the terminators of each request as language.md §4 defines and reports every
  /// composite to its sink. Requests are reported in their order, but an engine may search for all
  /// of them at once. Fewer terminators than all are done when the sink has no room for more,
  /// because of `stop`, or when there is no memory (`Request::starved`); the other requests are
  /// carried out then. A terminator that was given up is not done and has left nothing behind, also
  /// where its evaluator had to forget what it had found before.
  ///
  /// Preconditions: no two requests share an evaluator or the state of a rule that consumes, and
  /// the history does not change meanwhile. Other threads may call this for other evaluators.
  /// Throws bad_alloc where it noted what a rule has consumed or produced and ended half-way.
  virtual void evaluate(std::span<Request> requests, const Budget& budget) const = 0;
  /// `history` keeps every type that the plan reads and, like the plan, outlives the evaluator.
  virtual std::unique_ptr<Evaluator> prepare(std::shared_ptr<const plan::Plan> plan,
                                             history::History& history) const = 0;
};

/// Every engine of this build, the default first.
std::span<const Engine* const> engines();
/// Null when there is no engine of this name.
const Engine* find_engine(std::string_view name);

}  // namespace gorgo::engine
