#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "plan/plan.hpp"

namespace gorgo::engine {

/// A rule as an automaton. Its states form a tree whose root is the terminator: each refers to the
/// state in whose window it lies, and so stands before it in time. Events come oldest first, so
/// partial sequences grow from the leaves to the root: an event of a state joins those of the
/// states that refer to it.
///
/// language.md §4 chooses in text order and never goes back: an event may be chosen for a state
/// though no event follows for a later one. So there are partial sequences not only of whole
/// subtrees but, for every state, of the part of the subtree up to it.

/// What is tested on a partial sequence. Expressions read its states and no candidate.
struct Tests {
  std::vector<Expr> conditions;
  std::vector<std::uint32_t> negations;

  bool empty() const { return conditions.empty() && negations.empty(); }
};

/// Both sides of an equality: the partial sequences whose subject equals the operand are wanted.
struct KeyPart {
  Expr subject;  ///< over the states of the partial sequence
  Expr operand;  ///< over the state that the first of these refers to
};

/// Partial sequences over these states, ascending: part of the subtree of the first.
struct PoolModel {
  std::vector<std::uint32_t> states;
  std::vector<KeyPart> key;
  Duration width = 0;  ///< of the window of the first state
};

/// A state whose selection is not `each` and not per key, and whose events can be chosen as soon as
/// the event that it refers to is there, because nothing else decides the choice.
struct ChoiceModel {
  std::uint32_t state = 0;
  std::uint32_t pool = 0;  ///< of this state alone
  Tests tests;
};

struct StepModel {
  std::uint32_t pool = 0;
  Tests tests;                          ///< what can be tested from this step on
  std::optional<std::uint32_t> choice;  ///< a choice of the state that restricts the newest event
};

/// Joins an event of a state with one partial sequence from the pool of each step. The result
/// belongs to `pool`.
struct JoinModel {
  std::uint32_t pool = 0;
  std::vector<StepModel> steps;
};

/// What an event of a state behind the terminator does.
struct StateModel {
  Tests tests;  ///< of the event alone
  std::vector<ChoiceModel> choices;
  std::vector<JoinModel> joins;
  Duration reach = 0;  ///< an event that is further behind a terminator does not matter to it
};

/// How a state behind the terminator is chosen, given the terminator and the states before it: by
/// the partial sequences that end with it and agree with what is chosen.
struct FinalModel {
  std::uint32_t pool = 0;
  Tests tests;
};

struct Model {
  std::vector<PoolModel> pools;
  Tests terminator;
  std::vector<StateModel> states;  ///< by state; the first is unused
  std::vector<FinalModel> finals;  ///< by state; the first is unused
};

Model make_model(const plan::Plan& plan);

}  // namespace gorgo::engine
