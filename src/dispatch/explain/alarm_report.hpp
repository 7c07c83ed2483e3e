#pragma once

#include "dispatch/rules/rule_set.hpp"
#include "gorgo/processor.hpp"

namespace gorgo::dispatch {

/// What is told of two engines that disagree about the rule's terminator at `slot`. Its report is a
/// rule test (docs/rule-tests.md): the rule, and the events that the terminator may see, in order
/// of release, up to the terminator. Nothing stands under `expect`, because it is not known which
/// engine is right. Preconditions: the rule's placement says what differs, and the history
/// remembers the terminator.
EngineAlarm alarm_report(const DeployedRule& rule, const Schema& schema,
                         const history::History& history, history::Slot slot);

}  // namespace gorgo::dispatch
