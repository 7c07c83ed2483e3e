#pragma once

#include <string>

#include "dispatch/rules/rule_set.hpp"

namespace gorgo::dispatch {

/// A rule test (docs/rule-tests.md) of what two engines disagree about: the rule, and the events
/// that its terminator at `slot` may see, in order of release, up to the terminator. Nothing stands
/// under `expect`, because it is not known which engine is right. `difference` says what differs.
/// Precondition: the history remembers the terminator.
std::string alarm_report(const DeployedRule& rule, const Schema& schema,
                         const history::History& history, history::Slot slot,
                         const std::string& difference);

}  // namespace gorgo::dispatch
