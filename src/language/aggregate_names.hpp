#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gorgo/rule.hpp"

namespace gorgo::language {

/// The function that an aggregate's name stands for, in any case of letters.
std::optional<AggregateFunction> aggregate_function(const std::string& word);
/// As `gorgo fmt` writes it: `StdDev`.
std::string_view spelling(AggregateFunction function);
/// As messages, plans and T-Rex write it: `STDDEV`.
std::string_view to_string(AggregateFunction function);
/// What its value is, one line.
std::string_view meaning(AggregateFunction function);
const std::vector<std::string>& aggregate_names();
/// Those of the functions that are meant, in one line: "Avg, Sum and Count".
std::string aggregate_names(bool (*is_meant)(AggregateFunction));

}  // namespace gorgo::language
