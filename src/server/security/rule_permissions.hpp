#pragma once

#include <string>
#include <vector>

#include "gorgo/processor.hpp"
#include "server/rules/deployments.hpp"
#include "server/security/user.hpp"

// What a user may do with rules, where the texts must be parsed or the rules in force be known.
// Belongs to the engine thread.
namespace gorgo::server {

/// The user must be allowed to subscribe to what the rules read and to publish what they produce,
/// and the rules that they replace must be those of the user's deployments.
Result<void> check_rules(const User& user, const dispatch::CheckedText& text,
                         const Deployments& deployments, const Processor& processor);

/// Whether the rule belongs to a deployment of the user.
bool is_rule_of(const User& user, const std::string& rule, const Deployments& deployments);

/// The rules in force that the user may see.
std::vector<RuleInfo> visible_rules(const User& user, const Deployments& deployments,
                                    const Processor& processor);

}  // namespace gorgo::server
