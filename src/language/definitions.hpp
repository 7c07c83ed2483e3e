#pragma once

#include <vector>

#include "gorgo/schema.hpp"
#include "language/ast.hpp"
#include "language/reporter.hpp"
#include "language/types.hpp"

namespace gorgo::language {

/// The attributes that the composites of a rule carry: those of `define`, and in T-Rex spelling
/// only those that have an entry in `Where` (language.md §12).
std::vector<AttributeType> composite_attributes(const ast::RuleDefinition& rule);

/// Enters what a file says about its types by `event` and `define`. Call it before any rule is
/// looked at, because the order of the items has no meaning.
void enter_definitions(const ast::File& file, TypeTable& types, Reporter& reporter);
/// Enters the numbers that `Assign n => T` gives to types. Call it when all types that the rules
/// use are entered.
void enter_numbers(const ast::File& file, TypeTable& types, const Schema& known,
                   Reporter& reporter);

}  // namespace gorgo::language
