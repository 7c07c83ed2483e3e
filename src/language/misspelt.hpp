#pragma once

#include "gorgo/schema.hpp"
#include "language/reporter.hpp"
#include "language/types.hpp"

namespace gorgo::language {

/// Warns of types that nothing declares, that one predicate alone names, and whose name differs by
/// one slip from that of another type: a letter too few, too many, changed, swapped with its
/// neighbour, or in the other case. Names that differ in a digit are told apart on purpose, and any
/// two short names are alike: both kinds are left alone. Call it when the types are inferred.
void warn_of_misspelt_types(const TypeTable& types, const Schema& known, Reporter& reporter);

}  // namespace gorgo::language
