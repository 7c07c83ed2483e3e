#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "gorgo/processor.hpp"

/// Lists of a server's rules and types, as text and as JSON.
namespace gorgo::tools {

/// The first row is the header.
using Table = std::vector<std::vector<std::string>>;

/// The rows as lines, in columns.
std::vector<std::string> table_lines(const Table& rows);
/// Writes the table to stdout, in columns.
void print_table(const Table& rows);

nlohmann::ordered_json type_json(const TypeInfo& type);
Table type_table(const std::vector<TypeInfo>& types);

}  // namespace gorgo::tools
