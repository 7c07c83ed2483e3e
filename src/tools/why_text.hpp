#pragma once

#include <string>

#include "gorgo/why.hpp"

namespace gorgo::tools {

/// Funnels for people to read, one paragraph each.
std::string to_text(const Why& why);
/// The funnels as one JSON object, indented.
std::string to_json_text(const Why& why);
/// "evaluated", "before_deployment", ...
const char* to_string(Funnel::Outcome outcome);

}  // namespace gorgo::tools
