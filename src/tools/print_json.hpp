#pragma once

#include <nlohmann/json_fwd.hpp>

namespace gorgo::tools {

/// Prints it on standard output, indented and with exact times. Bytes that are not UTF-8 are
/// replaced.
void print_json(const nlohmann::ordered_json& json);

}  // namespace gorgo::tools
