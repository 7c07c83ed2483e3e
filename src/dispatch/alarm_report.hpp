#pragma once

#include <string>

#include "dispatch/rule_set.hpp"

namespace gorgo::dispatch {

/// A rule test (docs/rule-tests.md) of what two engines disagree about: the rule, and the events
/// that its terminator at `slot` may see, in order of release, up to the terminator. Nothing stands
/// under `expect`, for who is right is the question. `difference` says what differs.
/// Precondition: the terminator is remembered.
std::string alarm_report(const DeployedRule& rule, const Schema& schema,
                         const history::History& history, history::Slot slot,
                         const std::string& difference);

}  // namespace gorgo::dispatch
