#include "language/build_tree.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace gorgo::language {
namespace {

/// Expressions that are higher are refused.
constexpr std::size_t kMaxHeight = 512;

/// The chain of the operands from `begin` to `end`.
Tree part_of_chain(ast::ExprKind kind, const std::vector<Location>& operators,
                   std::vector<Tree>& operands, std::size_t begin, std::size_t end,
                   Reporter& reporter) {
  if (end - begin == 1) return std::move(operands[begin]);
  const std::size_t middle = begin + (end - begin) / 2;
  std::vector<Tree> sides;
  sides.push_back(part_of_chain(kind, operators, operands, begin, middle, reporter));
  sides.push_back(part_of_chain(kind, operators, operands, middle, end, reporter));
  return make_tree(kind, operators[middle - 1], std::move(sides), reporter);
}

}  // namespace

Tree make_tree(ast::ExprKind kind, Location at, std::vector<Tree> operands, Reporter& reporter) {
  Tree tree;
  tree.expr.kind = kind;
  tree.expr.at = at;
  for (auto& operand : operands) tree.height = std::max(tree.height, operand.height + 1);
  if (tree.height > kMaxHeight) {
    // The trees above this one are too high as well and report nothing.
    if (tree.height == kMaxHeight + 1) {
      reporter.error(
          tree.expr.at, "the expression is nested too deeply",
          "at most " + std::to_string(kMaxHeight) + " operators may stand in each other");
    }
    return {.height = tree.height};
  }
  for (auto& operand : operands) tree.expr.children.push_back(std::move(operand.expr));
  return tree;
}

Tree make_chain(ast::ExprKind kind, const std::vector<Location>& operators,
                std::vector<Tree> operands, Reporter& reporter) {
  return part_of_chain(kind, operators, operands, 0, operands.size(), reporter);
}

void require_value(const ast::Expr& expr, Reporter& reporter) {
  if (expr.kind < ast::ExprKind::equal) return;
  reporter.error(expr.at, "a condition cannot be used as a value",
                 "combine conditions with `and`, `or` and `not`");
}

}  // namespace gorgo::language
