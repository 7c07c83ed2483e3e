#pragma once

#include <optional>
#include <vector>

#include "gorgo/rule.hpp"

namespace gorgo::language {

/// An expression in its checked form. It is empty when something in the expression is wrong: that
/// has been reported, and whatever contains the expression says no more about it.
using Bound = std::optional<Expr>;

Expr make_operation(Op op, ValueType type, std::vector<Expr> args);
Expr make_constant(Value value);
/// `to_float` of an int, folded for constants; a float as it is.
Expr as_float(Expr expr);

}  // namespace gorgo::language
