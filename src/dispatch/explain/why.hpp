#pragma once

#include <atomic>

#include "dispatch/rules/rule_set.hpp"
#include "gorgo/why.hpp"
#include "history/history.hpp"

namespace gorgo::dispatch {

/// Evaluates terminators of a rule again, as it saw them, with the reference engine and over what
/// the history remembers. Leaves rule and history as they were. Gives up soon when `stop` is set,
/// or the time that the options allow is over.
Why explain_terminators(const DeployedRule& rule, const Schema& schema, const WhyOptions& options,
                        history::History& history, const std::atomic<bool>& stop);

}  // namespace gorgo::dispatch
