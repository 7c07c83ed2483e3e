#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "gorgo/rule.hpp"

/// From what a rule says to how it is evaluated. A plan is const after construction and shared by
/// every thread and engine.
namespace gorgo::plan {

/// A shared column: the events of a type that satisfy conditions on themselves alone. Plans whose
/// specs have the same `key` share the column; it materialises the attributes of all of them.
struct ColumnSpec {
  TypeId type = kNoType;
  std::vector<Expr> conditions;           ///< mention nothing but the candidate and constants
  std::vector<std::uint32_t> attributes;  ///< to materialise, ascending
  std::string key;                        ///< type and conditions
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
  ColumnSpec column;
  std::vector<Expr> guards;  ///< mention no candidate
  std::vector<Comparison> comparisons;
  std::vector<Expr> residual;
  /// The comparisons that are equalities, in an order that plans share: what a hash index answers.
  std::vector<std::uint32_t> key;
};

struct StatePlan {
  Scan scan;
  std::vector<std::uint32_t> negations;  ///< tested on each candidate of this state; no deadlines
};

struct AggregatePlan {
  Scan scan;
  /// Its value is the same for sequences that agree up to this state.
  std::uint32_t decided_at = 0;
};

struct Plan {
  Rule rule;
  std::vector<StatePlan> states;          ///< as Rule::states; the scan of state 0 is unused
  std::vector<Scan> negations;            ///< as Rule::negations
  std::vector<AggregatePlan> aggregates;  ///< as Rule::aggregates
  /// When the composites of a terminator are decided, nanoseconds behind it: the longest `within
  /// ... after` of the rule; unset without one.
  std::optional<Duration> deadline;
  /// Attributes of the composite that are strings which functions compute.
  std::vector<std::uint32_t> computed_texts;
  /// How far behind the clock an event of each type that the rule reads can still matter, in
  /// nanoseconds (language.md §9); saturated. The terminator's type is among them.
  std::map<TypeId, Duration> reach;
};

Plan make_plan(Rule rule);

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
