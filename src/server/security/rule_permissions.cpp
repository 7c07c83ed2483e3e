#include "server/security/rule_permissions.hpp"

#include "dispatch/rules/rule_base.hpp"
#include "server/security/permissions.hpp"

namespace gorgo::server {
namespace {

/// A joint type, which states over several types and tables have, is no more than its members, and
/// timers tell nobody anything.
Result<void> check_read(const User& user, TypeId type, const Schema& schema) {
  if (type == kTimerType) return {};
  const EventType& read = schema.at(type);
  if (!read.joint()) return check_subscribe(user, read.name);
  for (const JointMember& member : read.members) {
    if (auto allowed = check_read(user, member.type, schema); !allowed) return allowed;
  }
  return {};
}

Result<void> check_types(const User& user, const plan::Plan& plan, const Schema& schema) {
  for (const TypeId type : dispatch::types_of(plan)) {
    auto allowed = type == plan.rule.type ? check_publish(user, schema.at(type).name)
                                          : check_read(user, type, schema);
    if (!allowed) {
      return Error{"rule '" + plan.rule.name + "': " + allowed.error().message,
                   allowed.error().hint};
    }
  }
  // A rule may read the type that it produces.
  if (!plan.reach.contains(plan.rule.type)) return {};
  return check_subscribe(user, schema.at(plan.rule.type).name);
}

/// A type that somebody has declared becomes a table, which keeps its rows for ever, only by those
/// who may publish it.
Result<void> check_tables(const User& user, const Schema& next, const Schema& now) {
  for (TypeId id = now.size(); id < next.size(); ++id) {
    if (!next.knows(id) || !next.at(id).table()) continue;
    const TypeId events = next.at(id).members.front().type;
    if (!now.knows(events) || now.at(events).origin == TypeOrigin::inferred) continue;
    if (auto allowed = check_publish(user, now.at(events).name); !allowed) return allowed;
  }
  return {};
}

}  // namespace

Result<void> check_rules(const User& user, const dispatch::CheckedText& text,
                         const Deployments& deployments, const Processor& processor) {
  if (auto allowed = check_tables(user, text.schema, processor.schema()); !allowed) return allowed;
  for (const auto& plan : text.plans) {
    if (auto allowed = check_types(user, *plan, text.schema); !allowed) return allowed;
    const std::string& name = plan->rule.name;
    const bool replaces = processor.has_rule(name);
    if (!replaces || is_rule_of(user, name, deployments)) continue;
    return check_deployment(user, deployments.owner_of(name));
  }
  return {};
}

bool is_rule_of(const User& user, const std::string& rule, const Deployments& deployments) {
  return user.deployments.allows(deployments.owner_of(rule));
}

std::vector<RuleInfo> visible_rules(const User& user, const Deployments& deployments,
                                    const Processor& processor) {
  auto rules = processor.rules();
  std::erase_if(rules,
                [&](const RuleInfo& rule) { return !is_rule_of(user, rule.name, deployments); });
  return rules;
}

}  // namespace gorgo::server
