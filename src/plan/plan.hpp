#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/shared_text.hpp"
#include "gorgo/rule.hpp"
#include "plan/panes.hpp"

/// From what a rule says to how it is evaluated. A plan is const after construction and shared by
/// every thread and engine.
namespace gorgo::plan {

/// A shared column: the events of a type that satisfy conditions on themselves alone. Plans whose
/// specs have the same `key` share the column; it materialises the attributes of all of them.
struct ColumnSpec {
  TypeId type = kNoType;
  SharedList<Expr> conditions;            ///< mention nothing but the candidate and constants
  std::vector<std::uint32_t> attributes;  ///< to materialise, ascending
  SharedText key;                         ///< type and conditions
};

/// subject `op` operand, where the subject mentions nothing but the candidate and the operand does
/// not mention it: one value per search, so that a column can be compared with it as a whole.
struct Comparison {
  Op op = Op::equal;
  Expr subject;
  Expr operand;

  /// The attribute that the subject is, if it is nothing else.
  std::optional<std::uint32_t> attribute() const;
};

/// How the events that satisfy a predicate are found for a given (partial) sequence: those of the
/// column, in a window, that pass the comparisons and the residual; none unless the guards hold.
struct Scan {
  SharedList<Expr> guards;  ///< mention no candidate
  SharedList<Comparison> comparisons;
  SharedList<Expr> residual;
  /// The comparisons that are equalities, in an order that plans share: what a hash index answers.
  SharedList<std::uint32_t> key;
  ColumnSpec column;
};

struct StatePlan {
  SharedList<std::uint32_t> negations;  ///< tested on each candidate of this state; no deadlines
  Scan scan;
};

struct AggregatePlan {
  Scan scan;
  /// Its value is the same for sequences that agree up to this state.
  std::uint32_t decided_at = 0;
  /// How many panes its window has; 0: its value does not come from panes. With panes, every
  /// comparison of the scan is an equality of an attribute, and nothing else is left to be tested.
  std::int64_t panes = 0;
};

struct Plan {
  // What each evaluation reads stands together: here and where the rule begins.
  std::vector<StatePlan> states;  ///< as Rule::states; the scan of state 0 is unused
  /// Attributes of the composite that are strings which functions compute.
  std::vector<std::uint32_t> computed_texts;
  /// When the composites of a terminator are decided, nanoseconds behind it: the longest `within
  /// ... after` of the rule; unset without one.
  std::optional<Duration> deadline;
  std::optional<PaneCut> panes;  ///< of a rule with `@panes`
  Rule rule;
  std::vector<Scan> negations;            ///< as Rule::negations
  std::vector<AggregatePlan> aggregates;  ///< as Rule::aggregates
  /// How far behind the clock an event of each type that the rule reads can still matter, in
  /// nanoseconds (language.md §9); saturated. The terminator's type is among them.
  std::map<TypeId, Duration> reach;

  /// Fetches what each evaluation reads; a hint.
  void prefetch() const {
    constexpr std::size_t kLine = 64;
    const auto* const first = reinterpret_cast<const std::byte*>(this);
    const auto* const last = reinterpret_cast<const std::byte*>(&rule.name);
    for (const auto* line = first; line < last; line += kLine) __builtin_prefetch(line);
  }
};

Plan make_plan(Rule rule);

/// The column of all events of a type, which has no conditions and materialises no attributes.
ColumnSpec column_of_all(TypeId type);

/// The comparison for which `a op b` is `b mirrored(op) a`; none for other operators.
std::optional<Op> mirrored(Op op);

/// The condition as a comparison of an expression over the candidate with one that does not mention
/// it, if it is one.
std::optional<Comparison> as_comparison(const Expr& condition);

/// A text that two expressions share exactly when they say the same.
std::string fingerprint(const Expr& expr);
/// Whether the value is a string that may live in `functions::ComputedTexts` only.
bool computes_text(const Expr& expr);
/// Whether the expression reads the event under test.
bool mentions_candidate(const Expr& expr);
/// Whether it reads any state or aggregate.
bool mentions_sequence(const Expr& expr);
/// The last state that it reads; 0 when it reads none.
std::uint32_t last_state(const Expr& expr);

}  // namespace gorgo::plan
