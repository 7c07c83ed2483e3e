#pragma once

#include <optional>
#include <string>
#include <vector>

#include "gorgo/rule.hpp"
#include "language/ast.hpp"
#include "language/inference.hpp"
#include "language/language.hpp"
#include "language/reporter.hpp"
#include "language/scope.hpp"
#include "language/types.hpp"

namespace gorgo::language {

/// What the rules of one file share once the types of all attributes are known.
struct FileContext {
  const Source& source;
  const TypeTable& types;
  Inference& inference;
  Reporter& reporter;
};

/// Turns one rule into its checked form. Everything that is wrong is reported; the result is
/// meaningful only when nothing was. An expression with an error binds to nothing, and whatever
/// contains it says no more about it.
class RuleBinder {
 public:
  RuleBinder(const ast::RuleDefinition& definition, const Scope& scope, FileContext& file)
      : ast_(definition),
        scope_(scope),
        types_(file.types),
        inference_(file.inference),
        reporter_(file.reporter),
        source_(file.source) {}

  Rule bind(std::string full_name);

 private:
  using Bound = std::optional<Expr>;

  // pattern.cpp: the clauses, in text order
  void bind_pattern();
  void bind_state(const ast::StateClause& clause, std::uint32_t index);
  void bind_selection(const ast::StateClause& clause, State& state);
  void bind_negation(const ast::NegationClause& clause, std::uint32_t earlier);
  void bind_total(const ast::AggregateBinding& binding, std::uint32_t earlier);
  void bind_filter(const ast::FilterClause& clause, std::uint32_t earlier);
  Span bind_span(const ast::Span& span, std::uint32_t earlier);
  std::uint32_t earlier_state(const ast::Name& name, std::uint32_t earlier);
  void check_width(const ast::Span& span);
  void check_no_alias(const ast::Predicate& predicate, const std::string& what);

  // predicates.cpp: what stands in brackets
  Predicate bind_predicate(const ast::Predicate& predicate, const Context& context);
  Bound bind_presence(const ast::Expr& condition, const Context& context);
  /// Fills the rule's aggregate number `scope_.number_of(&call)`.
  void bind_aggregate(const ast::AggregateCall& call, std::uint32_t earlier);
  void bind_aggregate_attribute(const ast::AggregateCall& call, Aggregate& aggregate);
  std::optional<ValueType> type_of_aggregate(const ast::AggregateCall& call);

  // expressions.cpp
  Bound bind_condition(const ast::Expr& expr, const Context& context);
  Bound bind_expr(const ast::Expr& expr, const Context& context);
  Bound bind_operator(const ast::Expr& expr, const Context& context);
  Bound bind_name(const ast::Expr& expr, const Context& context);
  Bound bind_aggregate_expr(const ast::Expr& expr, const Context& context);
  Bound bind_arithmetic(const ast::Expr& expr, const Context& context);
  Bound bind_negate(const ast::Expr& expr, const Context& context);
  Bound bind_comparison(const ast::Expr& expr, const Context& context);
  Bound bind_logic(const ast::Expr& expr, const Context& context);
  Bound compare(const ast::Expr& at, ast::ExprKind kind, const ast::Expr& left, Bound bound_left,
                std::string right_name, Location right_at, Bound bound_right);
  bool check_stated_type(const ast::Expr& expr, ValueType stated, const Bound& bound);
  bool check_number(const ast::Expr& expr, const Bound& bound, ast::ExprKind kind);
  void refuse_bind(const ast::Expr& expr, const Context& context);
  /// The attribute's index, or nothing and a report (once for each attribute).
  std::optional<std::uint32_t> attribute_index(TypeIndex type, std::string_view name, Location at);
  void report_missing_attribute(TypeIndex type, std::string_view name, Location at);

  // where.cpp
  void bind_where();
  void bind_assignment(const ast::Assignment& assignment, const AttributeType* target,
                       Bound* value);
  void report_undefined(const ast::Name& name);
  Bound convert(Bound value, const ast::Expr& expr, const AttributeType& target);
  void bind_consuming();

  // options.cpp: annotations and timers
  void bind_timer(const ast::Timer& timer);
  void bind_annotations();
  void bind_engine(const ast::Annotation& annotation);
  void bind_limit(const ast::Annotation& annotation);

  const ast::RuleDefinition& ast_;
  const Scope& scope_;
  const TypeTable& types_;
  Inference& inference_;
  Reporter& reporter_;
  const Source& source_;
  Rule rule_;
};

/// Constructors of typed expressions.
Expr make_operation(Op op, ValueType type, std::vector<Expr> args);
Expr make_constant(Value value);
/// `to_float` of an int, folded for constants; a float as it is.
Expr as_float(Expr expr);

}  // namespace gorgo::language
