#pragma once

#include <cstddef>
#include <vector>

#include "language/ast.hpp"
#include "language/reporter.hpp"

/// Operations of the AST. Their height is bounded, so that walking one cannot exhaust the stack.
namespace gorgo::language {

/// An expression and the length of its longest path.
struct Tree {
  ast::Expr expr;
  std::size_t height = 1;
};

/// The operation on its operands; an operation that would be too high is reported.
Tree make_tree(ast::ExprKind kind, Location at, std::vector<Tree> operands, Reporter& reporter);
/// A chain of one operator, as a tree of logarithmic height in which the operands keep their order.
/// There is one operand more than there are operators, and at least one.
Tree make_chain(ast::ExprKind kind, const std::vector<Location>& operators,
                std::vector<Tree> operands, Reporter& reporter);
/// Reports a condition where a value is wanted.
void require_value(const ast::Expr& expr, Reporter& reporter);

}  // namespace gorgo::language
