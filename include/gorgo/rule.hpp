#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gorgo/diagnostics.hpp"
#include "gorgo/function.hpp"
#include "gorgo/op.hpp"
#include "gorgo/schema.hpp"
#include "gorgo/shared_list.hpp"
#include "gorgo/value.hpp"

/// Checked rules: every name resolved, every expression typed. A `Rule` exists only for a rule
/// without errors, so whoever holds one may evaluate it without checking anything again.
namespace date {
class time_zone;
}

namespace gorgo {

namespace functions {
struct Prepared;
}

/// The event a predicate is tested on, as `Expr::source`; states are 0, 1, ....
inline constexpr std::int32_t kCandidate = -1;

/// A typed expression. Operand types, by construction: arithmetic on numbers of the same type
/// (`to_float` is inserted where an int meets a float); comparisons on two numbers (int against
/// float stays unconverted and is compared exactly), two strings or two bools; logic on bools.
/// There are no parameters: `$p` is the attribute of the state that binds it, and `kCandidate`
/// inside that state's own predicate. `$t` of an aggregate is `Op::aggregate`.
struct Expr {
  Op op = Op::constant;
  ValueType type = ValueType::integer;
  Function function = Function::abs;  ///< Op::call
  std::int32_t source = kCandidate;   ///< Op::attribute, timestamp, present
  std::uint32_t index = 0;            ///< Op::attribute, present, aggregate
  SharedList<Expr> args;
  Value constant;  ///< Op::constant
  /// Op::call: what its literal patterns and zones say; null where there are none.
  std::shared_ptr<const functions::Prepared> prepared;
};

/// Events of a type that satisfy conditions. All conditions must hold; each is of type bool.
/// Bindings stand first, as `Op::present`.
struct Predicate {
  TypeId type = kNoType;
  std::vector<Expr> conditions;
};

enum class Selection : std::uint8_t { each, first, last, k_first, k_last };

/// A state of the pattern. State 0 is the terminator: its selection, reference and width are
/// unused.
struct State {
  Selection selection = Selection::each;
  std::uint64_t k = 1;  ///< k_first, k_last
  std::uint32_t reference =
      0;               ///< an earlier state; the window is (ts(reference) - width, ts(reference))
  Duration width = 0;  ///< > 0
  /// `per`: the selection is made among the events that agree in these attributes. Never with
  /// `each`.
  std::vector<std::uint32_t> per = {};
  /// Only the newest so many of all events of the type in the window are candidates, >= 1; unset:
  /// all are.
  std::optional<std::uint64_t> among = {};
  /// It is of the rows of a table: their window is all time before the reference, which is state 0,
  /// and they are the rule's whenever it was deployed.
  bool table = false;
  Predicate predicate;
  std::string name;  ///< alias or type name
};

enum class SpanKind : std::uint8_t {
  within,   ///< (ts(first) - width, ts(first))
  between,  ///< (min, max) of ts(first), ts(second)
  after,    ///< (ts(first), ts(first) + width), first = 0: absence with a deadline
};

/// An open interval of time relative to states.
struct Span {
  SpanKind kind = SpanKind::within;
  std::uint32_t first = 0;
  std::uint32_t second = 0;
  Duration width = 0;
  bool table = false;  ///< of a look-up; see State
};

/// No event of the predicate lies in the span.
struct Negation {
  Predicate predicate;
  Span span;
  /// The state after whose choice every state that it mentions is bound (language.md §4.2).
  std::uint32_t completed_at = 0;
};

enum class AggregateFunction : std::uint8_t {
  avg,
  sum,
  min,
  max,
  count,
  variance,      ///< of a sample
  variance_pop,  ///< of a population
  std_dev,       ///< of a sample
  std_dev_pop,   ///< of a population
  median,
  percentile,
  count_distinct,
  first,  ///< the value of the oldest event
  last,   ///< the value of the newest event
};

/// Whether devices can know it: a reduction has a count, a sum, the least and the greatest value.
constexpr bool is_reduction(AggregateFunction function) {
  switch (function) {
    case AggregateFunction::avg:
    case AggregateFunction::sum:
    case AggregateFunction::min:
    case AggregateFunction::max:
    case AggregateFunction::count:
      return true;
    case AggregateFunction::variance:
    case AggregateFunction::variance_pop:
    case AggregateFunction::std_dev:
    case AggregateFunction::std_dev_pop:
    case AggregateFunction::median:
    case AggregateFunction::percentile:
    case AggregateFunction::count_distinct:
    case AggregateFunction::first:
    case AggregateFunction::last:
      break;
  }
  return false;
}

struct Aggregate {
  AggregateFunction function = AggregateFunction::count;
  Predicate predicate;
  std::optional<std::uint32_t> attribute;  ///< absent: COUNT of events
  double percent = 50;                     ///< PERCENTILE: 0 to 100
  Span span;
  ValueType type = ValueType::integer;  ///< of the result
  /// How many events of the span count at most, the newest ones, >= 1; unset: all count.
  std::optional<std::uint64_t> newest = {};
  /// Only the newest so many of all events of the type in the span are looked at, >= 1; unset: all
  /// are. Never with `newest`.
  std::optional<std::uint64_t> among = {};
};

/// What complete sequences must satisfy, in text order.
struct Filter {
  Expr condition;
};

/// A terminator that is an instant of the clock instead of an event (language.md §8).
struct Timer {
  std::optional<Duration> every;
  std::optional<std::int32_t> hour, minute, second;
  std::string zone = {};                   ///< of the time of day; empty: UTC
  const date::time_zone* clock = nullptr;  ///< that of the zone, null: UTC
};

/// `every 100 Temp() per area`: of the events that satisfy state 0, each so many-th of its key, in
/// the order of places, is a terminator. The others are only counted.
struct Every {
  std::uint64_t events = 1;             ///< >= 1
  std::vector<std::uint32_t> per = {};  ///< attributes of state 0's type; none: all have one key
};

/// A composite's attribute that `order by` names.
struct OrderKey {
  std::uint32_t attribute = 0;
  bool descending = false;
};

/// `@at_most(1, per = 10 min, by = area)`: how many composites with the same values a rule produces
/// in any time of this length.
struct OutputLimit {
  std::uint64_t composites = 1;        ///< >= 1
  Duration per = 0;                    ///< > 0
  std::vector<std::uint32_t> by = {};  ///< attributes of the composite; none: all are alike
};

/// What is done about each composite of a rule: `webhook("ops")`.
struct Action {
  std::string kind;    ///< in lower case
  std::string target;  ///< as the configuration of a server names it
  Location at;

  std::string text() const { return kind + "(\"" + target + "\")"; }
};

struct RuleOptions {
  /// Bounds the partial sequences of a terminator after each state, and the composites that wait
  /// for deadlines at the same time.
  std::uint64_t max_sequences = 1'000'000;
  std::string engine;  ///< `@engine(name)`; empty: the dispatcher chooses
  bool panes = false;  ///< `@panes`: aggregates are kept as sums between the instants of the timer
};

/// A joint type that a rule reads, see EventType.
struct JointType {
  TypeId type = kNoType;
  std::vector<JointMember> members;
};

struct Rule {
  // What each evaluation reads stands together in front.
  TypeId type = kNoType;  ///< of the composite events
  std::vector<State> states;
  std::vector<std::uint32_t> consuming;  ///< states, ascending, never 0
  std::vector<Expr> assignments;  ///< `where`, by attribute of the composite, converted to its type
  std::vector<Filter> filters;
  std::vector<std::uint32_t>
      required;                 ///< aggregates bound to a `$t`: without a value, no composite
  std::vector<OrderKey> order;  ///< of the composites of a terminator
  std::optional<std::uint64_t> limit;  ///< of the composites of a terminator, >= 1
  RuleOptions options;
  std::optional<OutputLimit> at_most;
  std::optional<Every> every;  ///< never with a timer

  std::string name;  ///< full name, unique among the deployed rules
  std::vector<Negation> negations;
  std::vector<Aggregate> aggregates;  ///< in text order
  std::vector<Action> actions;
  std::vector<JointType> joints;  ///< that it reads
  std::optional<Timer> timer;     ///< then `states[0]` has the type kNoType
  Location at;                    ///< of the rule in its text
  std::string text;               ///< the rule as written, for `rules show`

  /// Whether what came of earlier terminators decides what comes of a later one, so that they are
  /// evaluated one after the other.
  bool is_sequential() const { return !consuming.empty() || at_most.has_value(); }
};

}  // namespace gorgo
