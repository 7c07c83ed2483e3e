#pragma once

#include <string>

#include "gorgo/diagnostics.hpp"
#include "gorgo/processor.hpp"

namespace gorgo::server {

/// Writes the alarm's report to `engines-disagree-RULE.test` in the folder, which is made if it is
/// not there; an earlier report of the rule is replaced. Returns the file's path.
Result<std::string> save_report(const EngineAlarm& alarm, const std::string& folder);

}  // namespace gorgo::server
