#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "gorgo/diagnostics.hpp"

/// Records of comma-separated values as RFC 4180 has them.
namespace gorgo::codec {

struct CsvCell {
  std::string text;
  bool quoted = false;

  bool empty() const { return text.empty() && !quoted; }
};

/// Splits a record into its cells, which `separator` divides. False: a quoted cell is still open at
/// the end of `record`, and the record goes on in the next line.
Result<bool> split_csv(std::string_view record, std::vector<CsvCell>& cells, char separator = ',');

/// Appends a cell, quoted where a reader would take it for something else: separators, quotes,
/// line ends, the empty string.
void append_csv_cell(std::string& out, std::string_view text);

}  // namespace gorgo::codec
