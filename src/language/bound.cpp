#include "language/bound.hpp"

#include <utility>

namespace gorgo::language {

Expr make_operation(Op op, ValueType type, std::vector<Expr> args) {
  Expr expr;
  expr.op = op;
  expr.type = type;
  expr.args = std::move(args);
  return expr;
}

Expr make_constant(Value value) {
  Expr expr;
  expr.type = type_of(value);
  expr.constant = std::move(value);
  return expr;
}

Expr as_float(Expr expr) {
  if (expr.type == ValueType::floating) return expr;
  if (expr.op == Op::constant) {
    return make_constant(static_cast<double>(std::get<std::int64_t>(expr.constant)));
  }
  std::vector<Expr> args;
  args.push_back(std::move(expr));
  return make_operation(Op::to_float, ValueType::floating, std::move(args));
}

}  // namespace gorgo::language
