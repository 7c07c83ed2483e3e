#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <variant>
#include <vector>

#include "gorgo/rule.hpp"
#include "language/ast.hpp"
#include "language/reporter.hpp"
#include "language/types.hpp"

namespace gorgo::language {

/// Where an expression stands, which decides what it may mention (language.md §3).
struct Context {
  enum class Kind : std::uint8_t { state, negation, aggregate, filter, where };

  Kind kind = Kind::filter;
  TypeIndex own_type = kNoEntry;  ///< of the predicate: state, negation, aggregate
  std::uint32_t state = 0;        ///< Kind::state: the state whose predicate it is
  /// Kind::filter and where: the number of states before the expression in the text. The spans of
  /// aggregates may name them.
  std::uint32_t earlier = 0;
};

/// An attribute, or the time, of an event.
struct Reference {
  std::int32_t source = kCandidate;
  TypeIndex type = kNoEntry;
  std::string_view attribute;

  bool is_time() const { return attribute == "timestamp"; }
};

/// A name that means nothing here; `Scope::explain` says why.
enum class Unresolved : std::uint8_t {
  bare_attribute,  ///< outside predicates
  unknown_state,
  later_state,  ///< a state's conditions mention a later state
  unknown_parameter,
  later_parameter,  ///< bound by a later state
  aggregate_value,  ///< `$t` in a predicate
};

using Resolution = std::variant<Reference, const ast::AggregateBinding*, Unresolved>;

/// The names of one rule: its states, its parameters and what binds them, and the constants in
/// front of it.
class Scope {
 public:
  struct State {
    ast::Name name;  ///< alias or type name
    TypeIndex type = kNoEntry;
    const ast::Predicate* predicate = nullptr;  ///< null: a timer
    bool aliased = false;
    bool table = false;  ///< of the rows of a table
  };
  struct Parameter {
    std::uint32_t state = 0;
    const ast::Expr* binding = nullptr;  ///< attribute = $p, or attribute => $p
  };

  /// `constants` are those of the file, and must outlive the scope.
  Scope(const ast::RuleDefinition& rule, const std::vector<ast::Name>& constants, TypeTable& types,
        Reporter& reporter);

  const std::vector<State>& states() const { return states_; }
  std::optional<std::uint32_t> find_state(const std::string& name) const;
  const Parameter* find_parameter(const std::string& name) const;
  const ast::AggregateBinding* find_total(const std::string& name) const;
  /// True when this very condition binds a parameter.
  bool binds(const ast::Expr* condition) const { return bindings_.contains(condition); }
  /// Number of an aggregate outside predicates, in text order.
  std::uint32_t number_of(const ast::AggregateCall* call) const { return numbers_.at(call); }
  std::uint32_t aggregate_count() const { return static_cast<std::uint32_t>(numbers_.size()); }

  /// What an attribute, state_attribute or parameter expression means.
  Resolution resolve(const ast::Expr& expr, const Context& context) const;
  void explain(Unresolved why, const ast::Expr& expr, Reporter& reporter) const;
  void explain_unknown_state(const ast::Name& name, Reporter& reporter) const;
  /// True the first time that a rule asks about this name: a slip is reported once.
  bool first_report(const std::string& name) const { return reported_.insert(name).second; }
  std::vector<std::string> constant_names() const;

 private:
  void add_state(const ast::Predicate& predicate, TypeTable& types, Reporter& reporter);
  void bind_parameters(std::uint32_t state);
  void add_total(const ast::AggregateBinding& binding, Reporter& reporter);
  void explain_bare_name(const ast::Expr& expr, Reporter& reporter) const;
  void number_aggregates(const ast::Expr& expr);
  Resolution resolve_state(const ast::Expr& expr, const Context& context) const;
  Resolution resolve_parameter(const ast::Expr& expr, const Context& context) const;
  Reference bound_by(const Parameter& parameter, const Context& context) const;
  std::vector<std::string> state_names() const;
  std::vector<std::string> parameter_names() const;

  std::vector<State> states_;
  std::unordered_map<std::string, std::uint32_t> by_name_;
  std::unordered_map<std::string, Parameter> parameters_;
  std::unordered_set<const ast::Expr*> bindings_;
  std::unordered_map<std::string, const ast::AggregateBinding*> totals_;
  std::unordered_map<const ast::AggregateCall*, std::uint32_t> numbers_;
  mutable std::unordered_set<std::string> reported_;
  std::span<const ast::Name> constants_;
};

}  // namespace gorgo::language
