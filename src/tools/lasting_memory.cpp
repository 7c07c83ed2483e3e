#include "tools/lasting_memory.hpp"

#include <algorithm>
#include <variant>

namespace gorgo::tools {
namespace {

bool has_lasting_memory(const ast::RuleDefinition& rule) {
  const auto is_at_most = [](const ast::Annotation& annotation) {
    return annotation.name.text == "at_most";
  };
  return rule.every || !rule.consuming.empty() || std::ranges::any_of(rule.annotations, is_at_most);
}

}  // namespace

std::vector<std::string> types_with_lasting_memory(const language::Source& rules) {
  std::vector<std::string> types;
  const auto parsed = language::parse(rules);
  for (const ast::Item& item : parsed.file.items) {
    const auto* rule = std::get_if<ast::RuleDefinition>(&item);
    if (rule != nullptr && has_lasting_memory(*rule)) types.push_back(rule->type.text);
  }
  return types;
}

}  // namespace gorgo::tools
