#pragma once

#include <string>
#include <string_view>
#include <vector>

/// The types that are made of others, by their names: those of states over several types, `Temp or
/// Humidity(area = $a)`, and of the rows of a table.
namespace gorgo::language {

/// The name of the joint type of some types: one for each set of them.
std::string joint_name(std::vector<std::string> members);
/// The type of the rows of a table.
std::string rows_name(const std::string& table);
bool is_rows_name(std::string_view name);
/// The types that a joint type of this name joins; none: it is the name of a type.
std::vector<std::string> joined_names(std::string_view name);

}  // namespace gorgo::language
