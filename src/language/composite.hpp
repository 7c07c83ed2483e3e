#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "gorgo/rule.hpp"
#include "gorgo/schema.hpp"
#include "language/ast.hpp"
#include "language/bound.hpp"
#include "language/expressions.hpp"
#include "language/reporter.hpp"
#include "language/scope.hpp"

namespace gorgo::language {

/// Binds what a complete sequence leads to: the attributes of the composite event, and the events
/// that are consumed.
class CompositeBinder {
 public:
  CompositeBinder(const ast::RuleDefinition& rule, const Scope& scope,
                  ExpressionBinder& expressions, Reporter& reporter)
      : rule_(rule), scope_(scope), expressions_(expressions), reporter_(reporter) {}

  /// Binds `where`. The result has a value for each attribute of the composite, converted to its
  /// type.
  std::vector<Expr> bind_values();
  std::vector<OrderKey> bind_order();
  std::optional<std::uint64_t> bind_limit();
  /// Binds `consuming`. The result has numbers of states, ascending.
  std::vector<std::uint32_t> bind_consumed();
  std::vector<Action> bind_actions();

 private:
  /// The places of the attributes that have a value, by name.
  using Given = std::unordered_map<std::string, Location>;

  void check_given_once(const ast::Name& attribute, Given& given);
  void check_all_given(const Given& given);
  void report_undefined(const ast::Name& attribute);
  Bound bind_value(const ast::Expr& expr);
  Bound convert(Bound value, const ast::Expr& expr, const AttributeType& target);

  const ast::RuleDefinition& rule_;
  const Scope& scope_;
  ExpressionBinder& expressions_;
  Reporter& reporter_;
};

}  // namespace gorgo::language
