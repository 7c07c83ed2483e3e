#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "gorgo/processor.hpp"

/// Lists of a server's rules and types, as text and as JSON.
namespace gorgo::tools {

/// The first row is the header.
using Table = std::vector<std::vector<std::string>>;

/// Clients choose names, which a terminal must not take for orders, nor a reader for further rows:
/// the text with question marks in their place.
std::string shown(std::string_view text);

/// The rows as lines, in columns.
std::vector<std::string> table_lines(const Table& rows);
/// Writes the table to stdout, in columns.
void print_table(const Table& rows);

/// A sentence as lines of at most `width` bytes, cut between words; those behind the first one are
/// indented. A word that is longer has a line of its own.
std::vector<std::string> wrapped(const std::string& sentence, std::size_t width);

nlohmann::ordered_json type_json(const TypeInfo& type);
Table type_table(const std::vector<TypeInfo>& types);

}  // namespace gorgo::tools
