#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "language/ast.hpp"
#include "language/bound.hpp"
#include "language/inference.hpp"
#include "language/reporter.hpp"
#include "language/scope.hpp"
#include "language/types.hpp"

namespace gorgo::language {

/// Binds what the expressions of one rule refer to: attributes and times of events, and values of
/// aggregates.
class ReferenceBinder {
 public:
  /// All arguments must outlive the binder, as those of all binders must.
  ReferenceBinder(const Scope& scope, const TypeTable& types, Inference& inference,
                  Reporter& reporter)
      : scope_(scope), types_(types), inference_(inference), reporter_(reporter) {}

  /// Binds `attr`, `State.attr`, `$p` or `$t`.
  Bound bind(const ast::Expr& expr, const Context& context);
  /// The value of an aggregate outside predicates. It is empty without a report when the aggregate
  /// has an error, because `AggregateBinder` reports it.
  Bound value_of(const ast::AggregateCall& call) const;
  /// The attribute that an aggregate reads of its events. Precondition: `call.attribute` is given.
  Bound attribute_of(const ast::AggregateCall& call);
  /// The type of the events that the aggregate reads.
  TypeIndex type_of(const ast::AggregateCall& call) const {
    return *types_.find(call.predicate.type.text);
  }

 private:
  /// A name that stands `alone` may be meant for a constant.
  Bound bind_attribute(TypeIndex type, std::string_view name, Location at, bool alone);
  bool is_poisoned(const TypeEntry& entry, std::string_view name) const;
  void report_uncommon(const TypeEntry& joint, std::string_view name, Location at);
  void report_missing_attribute(TypeIndex type, std::string_view name, Location at, bool alone);
  std::optional<ValueType> type_of_value(const ast::AggregateCall& call) const;

  const Scope& scope_;
  const TypeTable& types_;
  Inference& inference_;
  Reporter& reporter_;
};

}  // namespace gorgo::language
