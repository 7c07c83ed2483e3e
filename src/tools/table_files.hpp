#pragma once

#include <optional>
#include <string>
#include <vector>

#include "gorgo/diagnostics.hpp"
#include "gorgo/processor.hpp"

namespace gorgo::tools {

/// Rows of tables that stand in CSV files, each given as `Customer=customers.csv`: a header with
/// the names of the attributes, then the rows. Rows without a time (column `ts`) get `at`; without
/// `at`, the processor stamps them. They are appended in the order of the list and of the files. An
/// error names the file, and the line where there is one.
Result<void> append_tables(const std::vector<std::string>& files, std::optional<Timestamp> at,
                           Processor& processor);

}  // namespace gorgo::tools
