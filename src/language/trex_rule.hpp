#pragma once

#include <string>
#include <unordered_set>
#include <vector>

#include "gorgo/schema.hpp"
#include "language/ast.hpp"
#include "language/reporter.hpp"

namespace gorgo::language {

/// A rule in the spelling that T-Rex's own parser reads. It knows states by their types, compares
/// an attribute with a value, and has no filters.
class TRexRule {
 public:
  /// `rule` is free of errors against `schema`. What T-Rex cannot express is warned of.
  TRexRule(const ast::RuleDefinition& rule, const Schema& schema, Reporter& reporter);

  /// False: something that matters cannot be expressed, and the text is of no use.
  bool expressible() const { return expressible_; }
  /// From `Define` to the `;`.
  const std::string& text() const { return text_; }
  /// The event types that it names, in the order of the text, the composite last.
  const std::vector<std::string>& types() const { return types_; }

 private:
  enum class Place { state, elsewhere };

  void annotations();
  void define();
  void pattern();
  std::string clause(const ast::Clause& clause);
  void where();

  std::string predicate(const ast::Predicate& predicate, Place place);
  std::string conditions(const ast::Predicate& predicate, Place place);
  std::string condition(const ast::Expr& condition, const std::string& type, Place place);
  /// Whether brackets make a condition of an attribute of the type: it is false where it is absent.
  bool is_condition(const ast::Expr& expr, const std::string& type) const;
  std::string comparison(const ast::Expr& condition, const ast::Expr& attribute,
                         const ast::Expr& value, ast::ExprKind kind, const std::string& type);
  std::string selection(const ast::StateClause& state);
  std::string span(const ast::Span& span);
  std::string aggregate(const ast::AggregateCall& call);
  std::string counted_attribute(const ast::AggregateCall& call);

  std::string expr(const ast::Expr& expr, int binding_above);
  std::string operation(const ast::Expr& expr, int binding_above);
  std::string literal(const ast::Expr& expr);
  static std::string number(const std::string& digits, bool negative);

  std::string type_name(const ast::Name& name);
  std::string attribute_name(const ast::Name& name);
  std::string parameter(const ast::Name& name);
  /// Warns and returns nothing of use.
  std::string refuse(Location at, const std::string& what, std::string hint);

  const ast::RuleDefinition& rule_;
  const Schema& schema_;
  Reporter& reporter_;
  std::string text_;
  std::vector<std::string> types_;
  std::unordered_set<std::string> bound_;  // parameters
  bool expressible_ = true;
};

}  // namespace gorgo::language
