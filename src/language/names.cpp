#include "language/names.hpp"

#include <filesystem>

#include "codec/names.hpp"

namespace gorgo::language {
void check_name(const ast::Name& name, std::string_view what, Reporter& reporter) {
  const auto problem = codec::problem_of_name(name.text, what);
  if (problem) reporter.error(name.at, problem->message, problem->hint);
}

void check_attribute_name(const ast::Name& name, Reporter& reporter) {
  const auto problem = codec::problem_of_attribute_name(name.text);
  if (problem) reporter.error(name.at, problem->message, problem->hint);
}

RuleNames::RuleNames(const Source& source, const std::vector<const ast::RuleDefinition*>& rules,
                     Reporter& reporter)
    : stem_(std::filesystem::path(source.path).stem().string()) {
  for (const auto* rule : rules) {
    if (!rule->name) continue;
    check_name(*rule->name, "a rule", reporter);
    const auto [it, added] = given_.emplace(rule->name->text, rule->name->at);
    if (!added) {
      reporter.error(
          rule->name->at,
          "a rule named " + in_quotes(rule->name->text) + " stands already at " + place(it->second),
          "rules are replaced and removed by name, so each needs its own");
    }
  }
}

std::string RuleNames::full_name(const ast::RuleDefinition& rule) {
  if (rule.name) return rule.name->text;
  const std::string base = stem_.empty() ? rule.type.text : stem_ + "." + rule.type.text;
  while (true) {
    const int count = ++made_up_[base];
    std::string name = count == 1 ? base : base + "." + std::to_string(count);
    if (!given_.contains(name)) return name;
  }
}

std::vector<std::string> rule_names(const ast::File& file, const Source& source) {
  std::vector<const ast::RuleDefinition*> rules;
  for (const ast::Item& item : file.items) {
    if (const auto* rule = std::get_if<ast::RuleDefinition>(&item)) rules.push_back(rule);
  }
  Reporter unused(source.path, source.text);
  RuleNames naming(source, rules, unused);
  std::vector<std::string> names;
  for (const auto* rule : rules) names.push_back(naming.full_name(*rule));
  return names;
}

}  // namespace gorgo::language
