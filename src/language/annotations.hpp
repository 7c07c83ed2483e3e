#pragma once

#include <vector>

#include "gorgo/rule.hpp"
#include "language/ast.hpp"
#include "language/reporter.hpp"

namespace gorgo::language {

/// What the annotations before a rule that say how it runs, `@engine(NAME)`,
/// `@limit(max_sequences = N)` and `@panes`, say. Reports those that do not exist.
RuleOptions bind_annotations(const std::vector<ast::Annotation>& annotations, Reporter& reporter);

}  // namespace gorgo::language
