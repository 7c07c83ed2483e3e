#pragma once

#include <functional>
#include <string_view>

#include "dispatch/rules/rule_set.hpp"
#include "gorgo/event_batch.hpp"
#include "history/history.hpp"

namespace gorgo::dispatch {

/// Adds the rows that tables have, the newest event of each key, in ascending time. `wanted` is
/// asked for each table by its name.
void copy_rows(const RuleSet& rules, const history::History& history,
               const std::function<bool(std::string_view table)>& wanted, BatchBuilder& into);

}  // namespace gorgo::dispatch
