#include "engine/automaton/model.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "base/arithmetic.hpp"

namespace gorgo::engine {
namespace {

using States = std::set<std::uint32_t>;

bool reads_event(const Expr& expr) {
  return expr.op == Op::attribute || expr.op == Op::timestamp || expr.op == Op::present;
}

/// The expression with the event under test as the event of a state.
Expr with_candidate(Expr expr, std::uint32_t state) {
  if (reads_event(expr) && expr.source == kCandidate) {
    expr.source = static_cast<std::int32_t>(state);
  }
  for (Expr& arg : expr.args.own()) arg = with_candidate(std::move(arg), state);
  return expr;
}

void add_states(const Expr& expr, States& states) {
  if (reads_event(expr) && expr.source != kCandidate) {
    states.insert(static_cast<std::uint32_t>(expr.source));
  }
  for (const Expr& arg : expr.args) add_states(arg, states);
}

States states_of(const Expr& expr) {
  States states;
  add_states(expr, states);
  return states;
}

bool includes(const States& all, const States& some) {
  return std::includes(all.begin(), all.end(), some.begin(), some.end());
}

/// A condition or a negation, and when it is tested.
struct Test {
  Expr condition;  ///< unless it is a negation
  std::optional<std::uint32_t> negation;
  std::uint32_t owner = 0;  ///< the state whose choice it decides
  States states;            ///< the states that it reads, and the owner
  std::uint32_t at = 0;     ///< the state whose event brings all of them together
};

class ModelBuilder {
 public:
  explicit ModelBuilder(const plan::Plan& plan) : rule_(plan.rule) {
    for (std::uint32_t i = 0; i < rule_.states.size(); ++i) add_conditions(i);
    for (std::uint32_t i = 0; i < rule_.negations.size(); ++i) add_negation(i);
  }

  Model build() {
    const auto count = static_cast<std::uint32_t>(rule_.states.size());
    for (std::uint32_t i = 1; i < count; ++i) {
      for (const std::uint32_t last : subtree(i)) add_pool(i, last);
    }
    model_.terminator = own_tests(0);
    model_.states.resize(count);
    model_.finals.resize(count);
    for (std::uint32_t i = 1; i < count; ++i) {
      model_.states[i] = make_state(i);
      model_.finals[i] = make_final(i);
    }
    return std::move(model_);
  }

 private:
  std::uint32_t reference(std::uint32_t state) const { return rule_.states[state].reference; }
  std::uint32_t common_ancestor(std::uint32_t a, std::uint32_t b) const;
  bool in_subtree(std::uint32_t state, std::uint32_t root) const {
    return common_ancestor(state, root) == root;
  }
  std::vector<std::uint32_t> subtree(std::uint32_t root) const;
  std::vector<std::uint32_t> children(std::uint32_t state) const;

  void add_conditions(std::uint32_t state);
  Expr rewritten(const plan::Comparison& comparison, std::uint32_t state);
  void add_negation(std::uint32_t index);
  void add_test(Test test);

  void add_pool(std::uint32_t root, std::uint32_t last);
  std::uint32_t pool_of(std::uint32_t root, std::uint32_t last) const;
  Tests own_tests(std::uint32_t state) const;
  StateModel make_state(std::uint32_t state) const;
  std::optional<ChoiceModel> make_choice(std::uint32_t state) const;
  JoinModel make_join(std::uint32_t state, std::uint32_t last, const StateModel& model) const;
  FinalModel make_final(std::uint32_t state) const;

  template <class Wanted>
  Tests tests_where(Wanted&& wanted) const;

  const Rule& rule_;
  std::vector<Test> tests_;
  /// Expressions over a state, by the state and by the fingerprint of the operand that they equal.
  std::map<std::pair<std::uint32_t, std::string>, Expr> equals_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> pools_;  // by root and last
  Model model_;
};

/// The loop ends because a state's reference is an earlier state.
std::uint32_t ModelBuilder::common_ancestor(std::uint32_t a, std::uint32_t b) const {
  while (a != b) {
    if (a > b) {
      a = reference(a);
    } else {
      b = reference(b);
    }
  }
  return a;
}

std::vector<std::uint32_t> ModelBuilder::subtree(std::uint32_t root) const {
  std::vector<std::uint32_t> states;
  for (std::uint32_t i = root; i < rule_.states.size(); ++i) {
    if (in_subtree(i, root)) states.push_back(i);
  }
  return states;
}

std::vector<std::uint32_t> ModelBuilder::children(std::uint32_t state) const {
  std::vector<std::uint32_t> states;
  for (std::uint32_t i = state + 1; i < rule_.states.size(); ++i) {
    if (reference(i) == state) states.push_back(i);
  }
  return states;
}

void ModelBuilder::add_conditions(std::uint32_t state) {
  for (const Expr& condition : rule_.states[state].predicate.conditions) {
    const bool own = plan::mentions_candidate(condition) && !plan::mentions_sequence(condition);
    if (own) continue;  // the column holds no other events
    Expr expr = with_candidate(condition, state);
    if (const auto comparison = plan::as_comparison(condition)) {
      if (comparison->op == Op::equal) expr = rewritten(*comparison, state);
    }
    States states = states_of(expr);
    states.insert(state);
    add_test({.condition = std::move(expr),
              .negation = std::nullopt,
              .owner = state,
              .states = std::move(states)});
  }
}

/// `A.p = C.p and B.p = C.p` is `A.p = B.p and B.p = C.p`: what several states have in common is
/// compared between neighbours, where it stops partial sequences from growing early. Equality
/// compares exact values, so it is transitive.
Expr ModelBuilder::rewritten(const plan::Comparison& comparison, std::uint32_t state) {
  const std::string operand = plan::fingerprint(comparison.operand);
  Expr subject = with_candidate(comparison.subject, state);
  Expr expr{.op = Op::equal, .type = ValueType::boolean};
  expr.args = {subject, comparison.operand};
  for (std::uint32_t a = reference(state); state != 0 && a != 0; a = reference(a)) {
    const auto known = equals_.find({a, operand});
    if (known == equals_.end()) continue;
    expr.args.own()[1] = known->second;
    break;
  }
  equals_.try_emplace({state, operand}, std::move(subject));
  return expr;
}

void ModelBuilder::add_negation(std::uint32_t index) {
  const Negation& negation = rule_.negations[index];
  if (negation.span.kind == SpanKind::after) return;  // decided at the deadline
  States states{negation.completed_at, negation.span.first};
  if (negation.span.kind == SpanKind::between) states.insert(negation.span.second);
  for (const Expr& condition : negation.predicate.conditions) add_states(condition, states);
  add_test({.condition = {},
            .negation = index,
            .owner = negation.completed_at,
            .states = std::move(states)});
}

void ModelBuilder::add_test(Test test) {
  test.at = *test.states.begin();
  for (const std::uint32_t state : test.states) test.at = common_ancestor(test.at, state);
  tests_.push_back(std::move(test));
}

template <class Wanted>
Tests ModelBuilder::tests_where(Wanted&& wanted) const {
  Tests tests;
  for (const Test& test : tests_) {
    if (!wanted(test)) continue;
    if (test.negation) {
      tests.negations.push_back(*test.negation);
    } else {
      tests.conditions.push_back(test.condition);
    }
  }
  return tests;
}

void ModelBuilder::add_pool(std::uint32_t root, std::uint32_t last) {
  PoolModel pool{.states = {}, .key = {}, .width = rule_.states[root].width};
  for (const std::uint32_t state : subtree(root)) {
    if (state <= last) pool.states.push_back(state);
  }
  const States states(pool.states.begin(), pool.states.end());
  const States referred{reference(root)};
  const auto is_key = [&](const Expr& subject, const Expr& operand) {
    const States own = states_of(subject);
    return !own.empty() && includes(states, own) && states_of(operand) == referred;
  };
  for (const Test& test : tests_) {
    if (test.negation || test.condition.op != Op::equal || !states.contains(test.owner)) continue;
    const auto& sides = test.condition.args;
    if (plan::computes_text(sides[0]) || plan::computes_text(sides[1])) continue;
    if (is_key(sides[0], sides[1])) pool.key.push_back({sides[0], sides[1]});
    if (is_key(sides[1], sides[0])) pool.key.push_back({sides[1], sides[0]});
  }
  pools_[{root, last}] = static_cast<std::uint32_t>(model_.pools.size());
  model_.pools.push_back(std::move(pool));
}

/// The pool of the part of a subtree up to `last`, which may stand outside of it.
std::uint32_t ModelBuilder::pool_of(std::uint32_t root, std::uint32_t last) const {
  return std::prev(pools_.upper_bound({root, last}))->second;
}

Tests ModelBuilder::own_tests(std::uint32_t state) const {
  return tests_where([&](const Test& test) { return test.states == States{state}; });
}

StateModel ModelBuilder::make_state(std::uint32_t state) const {
  StateModel model{.tests = own_tests(state), .choices = {}, .joins = {}};
  for (std::uint32_t i = state; i != 0; i = reference(i)) {
    model.reach = arithmetic::saturating_add(model.reach, rule_.states[i].width);
  }
  for (const std::uint32_t child : children(state)) {
    if (auto choice = make_choice(child)) model.choices.push_back(std::move(*choice));
  }
  for (const std::uint32_t last : subtree(state)) {
    model.joins.push_back(make_join(state, last, model));
  }
  return model;
}

std::optional<ChoiceModel> ModelBuilder::make_choice(std::uint32_t state) const {
  const auto& consuming = rule_.consuming;
  if (rule_.states[state].selection == Selection::each) return std::nullopt;
  if (!rule_.states[state].per.empty()) return std::nullopt;
  if (std::find(consuming.begin(), consuming.end(), state) != consuming.end()) return std::nullopt;
  const States decisive{reference(state), state};
  const bool decided = std::all_of(tests_.begin(), tests_.end(), [&](const Test& test) {
    return test.owner != state || includes(decisive, test.states);
  });
  if (!decided) return std::nullopt;
  return ChoiceModel{
      .state = state, .pool = pool_of(state, state), .tests = tests_where([&](const Test& t) {
                                                       return t.owner == state && t.at != state;
                                                     })};
}

JoinModel ModelBuilder::make_join(std::uint32_t state, std::uint32_t last,
                                  const StateModel& model) const {
  JoinModel join{.pool = pool_of(state, last), .steps = {}};
  States bound{state};
  for (const std::uint32_t child : children(state)) {
    if (child > last) break;
    StepModel step{.pool = pool_of(child, last), .tests = {}, .choice = std::nullopt};
    const States before = bound;
    const auto& states = model_.pools[step.pool].states;
    bound.insert(states.begin(), states.end());
    step.tests = tests_where([&](const Test& test) {
      return test.at == state && includes(bound, test.states) && !includes(before, test.states);
    });
    for (std::uint32_t i = 0; i < model.choices.size(); ++i) {
      if (model.choices[i].state == child) step.choice = i;
    }
    join.steps.push_back(std::move(step));
  }
  return join;
}

FinalModel ModelBuilder::make_final(std::uint32_t state) const {
  std::uint32_t root = state;
  while (reference(root) != 0) root = reference(root);
  return {.pool = pool_of(root, state),
          .tests = tests_where([&](const Test& t) { return t.owner == state && t.at == 0; })};
}

}  // namespace

Model make_model(const plan::Plan& plan) { return ModelBuilder(plan).build(); }

}  // namespace gorgo::engine
