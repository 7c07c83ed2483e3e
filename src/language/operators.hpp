#pragma once

#include <cassert>

#include "gorgo/rule.hpp"
#include "language/ast.hpp"

namespace gorgo::language {

/// A written operator as checked expressions and the arithmetic name it. Precondition: arithmetic,
/// a comparison or logic.
inline Op op_of(ast::ExprKind kind) {
  using ast::ExprKind;
  switch (kind) {
    case ExprKind::add:
      return Op::add;
    case ExprKind::subtract:
      return Op::subtract;
    case ExprKind::multiply:
      return Op::multiply;
    case ExprKind::divide:
      return Op::divide;
    case ExprKind::equal:
      return Op::equal;
    case ExprKind::not_equal:
      return Op::not_equal;
    case ExprKind::less:
      return Op::less;
    case ExprKind::less_equal:
      return Op::less_equal;
    case ExprKind::greater:
      return Op::greater;
    case ExprKind::greater_equal:
      return Op::greater_equal;
    case ExprKind::contains:
      return Op::contains;
    case ExprKind::logical_and:
      return Op::logical_and;
    case ExprKind::logical_or:
      return Op::logical_or;
    default:
      assert(kind == ExprKind::logical_not);
      return Op::logical_not;
  }
}

}  // namespace gorgo::language
