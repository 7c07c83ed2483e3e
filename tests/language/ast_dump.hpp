#pragma once

#include <string>

#include "language/ast.hpp"

namespace gorgo::language {

/// The AST in one canonical spelling, fully bracketed and without places: equal texts mean equal
/// trees. Not a rule text: operators stand in front of their operands.
std::string dump(const ast::Expr& expr);
std::string dump(const ast::Predicate& predicate);
std::string dump(const ast::RuleDefinition& rule);
std::string dump(const ast::EventDeclaration& declaration);
std::string dump(const ast::File& file);

}  // namespace gorgo::language
