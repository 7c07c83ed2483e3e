#pragma once

#include <vector>

#include "gorgo/rule.hpp"
#include "language/ast.hpp"
#include "language/reporter.hpp"

namespace gorgo::language {

/// What the annotations before a rule, `@engine(NAME)` and `@limit(max_sequences = N)`, say.
RuleOptions bind_annotations(const std::vector<ast::Annotation>& annotations, Reporter& reporter);

}  // namespace gorgo::language
