#pragma once

#include <vector>

#include "functions/catalogue.hpp"
#include "functions/prepared.hpp"
#include "language/operations.hpp"

namespace gorgo::language {

/// Whether a function takes values of this type there.
bool fits(functions::Parameter parameter, ValueType type);

/// The call of a function on arguments that are bound. Ints are converted where the function takes
/// floats, and where other arguments of a common type are floats. Arguments that do not fit are
/// reported; the result is then empty, as it is when an argument is empty or the function is
/// unknown, which is reported elsewhere. `room`: of its literal patterns; null: no bound.
Bound make_call(const ast::Expr& call, std::vector<Operand> arguments, Reporter& reporter,
                functions::PatternRoom* room = nullptr);

}  // namespace gorgo::language
