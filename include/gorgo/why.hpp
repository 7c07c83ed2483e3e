#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "gorgo/value.hpp"

/// Why a rule fired or did not, terminator by terminator: what each step of the definition of the
/// language (language.md §4) was given and what it let through. Texts spell conditions as rules do,
/// with the names of states, and events as `Temp@1200 {area="A1", value=42.5}`, the time in
/// milliseconds.
namespace gorgo {

struct WhyOptions {
  /// How many terminators to look at: the newest ones. Of a rule with `every` the newest event that
  /// it has counted comes in addition to them, where it is no terminator.
  std::size_t last = 10;
  /// Only events with this timestamp, and among them also those that are no terminators because
  /// they fail the conditions of state 0.
  std::optional<Timestamp> at;
  /// Only events whose composites have this timestamp, and among them also those that fail the
  /// conditions of state 0. A composite is later than its terminator by the deadline of the rule,
  /// if it has one. `Client::why` does not send this.
  std::optional<Timestamp> composite_at = {};
  /// After so long the newest terminators that were looked at are all, and the last of these says
  /// that it was given up. What is remembered is taken in before, which this does not bound. 0:
  /// however long it takes.
  Duration max_time = 0;
  /// Bytes that copies of events may take; 0: as many as they need.
  std::size_t max_bytes = 0;
};

/// Why one event, or one sequence of events, went no further.
struct Miss {
  std::string event;  ///< the candidate; for a filter and what follows it, the sequence
  std::string test;   ///< `value > 45`
  std::string
      found;  ///< `42.5`; where both sides vary, `42.5 > 50.0`; for a negation, the event found
};

/// A test of a step, and what failed it. Tests stand in the order in which they are made, so what
/// fails several counts for the first.
struct Loss {
  enum class Kind : std::uint8_t {
    consumed,   ///< the event is consumed for this rule and state
    condition,  ///< a condition of the predicate does not hold
    negation,   ///< an event stands where none may
    filter,
    no_value,  ///< a `$t` or an attribute of the composite has none
    absence,   ///< an event came before the deadline
  };
  Kind kind = Kind::condition;
  std::string test;
  std::uint64_t count = 0;      ///< candidates or sequences that failed it
  std::optional<Miss> nearest;  ///< the one that failed the least; unset: none did
};

/// A step of the evaluation of one terminator.
struct Step {
  enum class Kind : std::uint8_t { terminator, state, filter, where, absence };
  Kind kind = Kind::state;
  std::string clause;            ///< `last Temp(value > 45) within 5 min from Smoke`
  std::uint64_t sequences = 0;   ///< partial sequences that came here
  std::uint64_t candidates = 0;  ///< state: events in their windows; else the sequences
  std::uint64_t passed = 0;      ///< candidates that passed every test
  std::uint64_t left = 0;        ///< sequences that go on, after the selection
  std::vector<Loss> losses;      ///< every test of the step, also those that nothing failed
  /// A state without a candidate: the event of its type that lies nearest to the window.
  std::optional<Miss> outside;
};

/// What became of one event of the type of a rule's state 0.
struct Funnel {
  enum class Outcome : std::uint8_t {
    evaluated,
    before_deployment,  ///< the rule sees later events only
    too_deep,           ///< at `max_depth`: stored, but no terminator
    too_many,           ///< more partial sequences than `max_sequences`
    stopped,            ///< `WhyOptions::max_time` is over, or the processor is about to end
    counted,            ///< `every` has counted it, and it is no terminator
  };

  std::string event;
  Timestamp timestamp = 0;
  Outcome outcome = Outcome::evaluated;
  /// Events that its windows held may have been forgotten, so that numbers can be too small.
  bool forgotten = false;
  std::vector<Step> steps;       ///< all of the rule's; those never reached have zeros
  std::uint64_t complete = 0;    ///< sequences that were complete, before filters
  std::uint64_t composites = 0;  ///< that the rule produced
  std::uint64_t waiting = 0;     ///< composites whose deadline is not over
  std::optional<Miss> nearest;   ///< without a composite: what came nearest to the next step
  std::uint64_t cut = 0;         ///< composites that came too soon after others, by `@at_most`
  /// Which event of so many it is that `every` has counted for one terminator, which is the last of
  /// them; 0: it has not counted it.
  std::uint64_t number = 0;
  std::uint64_t every = 0;  ///< how many events `every` counts for one terminator; 0: none
};

/// The answer to "why did it (not) fire?".
struct Why {
  std::string rule;
  std::string terminator;       ///< its predicate: `Smoke(has area)`
  std::uint64_t evaluated = 0;  ///< terminators since the rule was deployed
  std::uint64_t produced = 0;   ///< composites since then
  std::vector<Funnel> funnels;  ///< in place order
};

}  // namespace gorgo
