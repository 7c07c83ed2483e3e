#pragma once

#include <string>

#include "gorgo/rule.hpp"
#include "gorgo/schema.hpp"

namespace gorgo::language {

/// A checked rule as text, complete but for its name, place and text: two rules with the same
/// description mean the same. For tests and debugging.
std::string describe(const Rule& rule, const Schema& schema);

}  // namespace gorgo::language
