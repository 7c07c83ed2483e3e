#include "server/rules/deployments.hpp"

#include <utility>

#include "dispatch/rules/rule_base.hpp"
#include "server/security/permissions.hpp"

namespace gorgo::server {

Deployments::Names Deployments::names_of(const std::string& name,
                                         const dispatch::CheckedText& text) {
  Names names;
  for (const auto& plan : text.plans) names.emplace(plan->rule.name, name);
  return names;
}

/// Names of one text often stand side by side, where one is found next to the one before.
void Deployments::note(Names rules) {
  for (auto hint = of_rule_.end(); !rules.empty(); ++hint) {
    auto rule = rules.extract(rules.begin());
    hint = of_rule_.insert(hint, std::move(rule));
    if (!rule.empty()) hint->second = std::move(rule.mapped());
  }
}

std::vector<std::string> Deployments::rules_of(const std::string& name,
                                               const Processor& processor) const {
  std::vector<std::string> rules;
  for (std::string& rule : processor.rule_names()) {
    const auto known = of_rule_.find(rule);
    const bool own = known == of_rule_.end() ? rule.starts_with(name + ".") : known->second == name;
    if (own) rules.push_back(std::move(rule));
  }
  return rules;
}

std::string Deployments::name_of(const std::string& rule) const {
  const auto known = of_rule_.find(rule);
  return known == of_rule_.end() ? std::string() : known->second;
}

std::string Deployments::owner_of(const std::string& rule) const {
  const std::string name = name_of(rule);
  return std::string(stem_of(name.empty() ? rule : name));
}

}  // namespace gorgo::server
