#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace gorgo::language {

/// The rule texts of this repository that parse: examples, rule tests, diagnostics; each once.
std::vector<std::string> rule_texts();
bool parses(const std::string& text);

}  // namespace gorgo::language
