#pragma once

#include <string>

#include "language/aggregate_names.hpp"

namespace gorgo::tools {

/// How an aggregate is called, for lists and editors.
inline std::string usage_of(AggregateFunction function) {
  const std::string more = function == AggregateFunction::percentile ? ", 95" : "";
  return std::string(language::spelling(function)) + "(Type(...).attribute within ... from ..." +
         more + ")";
}

}  // namespace gorgo::tools
