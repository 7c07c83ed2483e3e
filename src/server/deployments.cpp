#include "server/deployments.hpp"

#include "dispatch/rules/rule_base.hpp"
#include "server/security/permissions.hpp"

namespace gorgo::server {

void Deployments::note(const std::string& name, const dispatch::CheckedText& text) {
  for (const auto& plan : text.plans) of_rule_[plan->rule.name] = name;
}

std::vector<std::string> Deployments::rules_of(const std::string& name,
                                               const Processor& processor) const {
  std::vector<std::string> rules;
  for (const RuleInfo& rule : processor.rules()) {
    const auto known = of_rule_.find(rule.name);
    const bool own =
        known == of_rule_.end() ? rule.name.starts_with(name + ".") : known->second == name;
    if (own) rules.push_back(rule.name);
  }
  return rules;
}

std::vector<std::string> Deployments::take(const std::string& name, const Processor& processor) {
  auto rules = rules_of(name, processor);
  std::erase_if(of_rule_, [&](const auto& entry) { return entry.second == name; });
  return rules;
}

std::string Deployments::owner_of(const std::string& rule) const {
  const auto known = of_rule_.find(rule);
  return std::string(stem_of(known == of_rule_.end() ? rule : known->second));
}

}  // namespace gorgo::server
