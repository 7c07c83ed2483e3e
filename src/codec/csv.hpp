#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "gorgo/diagnostics.hpp"

/// Records of comma-separated values as RFC 4180 has them.
namespace gorgo::codec {

struct CsvCell {
  std::string_view text;
  bool quoted = false;

  bool empty() const { return text.empty() && !quoted; }
};

/// Splits records into their cells, and reuses its memory.
class CsvSplitter {
 public:
  /// Splits a record where `separator` stands. False: a quoted cell is still open at the end of
  /// `record`, and the record goes on in the next line.
  Result<bool> split(std::string_view record, char separator = ',');
  /// What was split last. The texts refer to the record and to this object.
  const std::vector<CsvCell>& cells() const { return cells_; }

 private:
  std::vector<CsvCell> cells_;
  std::string unescaped_;  // texts of cells with doubled quotes; has room for a whole record

  bool take_quoted(std::string_view record, std::size_t& at, CsvCell& cell);
};

/// Appends a cell, quoted where a reader would take it for something else: separators, quotes,
/// line ends, the empty string.
void append_csv_cell(std::string& out, std::string_view text);

}  // namespace gorgo::codec
