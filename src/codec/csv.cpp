#include "codec/csv.hpp"

namespace gorgo::codec {
namespace {

/// Reads a quoted cell whose opening quote stands at `at`; leaves `at` behind the closing one.
bool take_quoted(std::string_view record, std::size_t& at, CsvCell& cell) {
  cell.quoted = true;
  for (++at; at < record.size(); ++at) {
    if (record[at] != '"') {
      cell.text += record[at];
    } else if (at + 1 < record.size() && record[at + 1] == '"') {
      cell.text += '"';
      ++at;
    } else {
      ++at;
      return true;
    }
  }
  return false;
}

Error in_cell(std::size_t number, std::string what, std::string hint) {
  return {"cell " + std::to_string(number) + ": " + std::move(what), std::move(hint)};
}

}  // namespace

Result<bool> split_csv(std::string_view record, std::vector<CsvCell>& cells, char separator) {
  std::size_t used = 0;
  std::size_t at = 0;
  while (true) {
    if (used == cells.size()) cells.emplace_back();
    CsvCell& cell = cells[used++];
    cell.text.clear();
    cell.quoted = false;
    if (at < record.size() && record[at] == '"') {
      if (!take_quoted(record, at, cell)) return false;
      if (at < record.size() && record[at] != separator) {
        return in_cell(used, "text behind the closing quote", "double a quote inside a cell: \"\"");
      }
    } else {
      const std::size_t end = std::min(record.find(separator, at), record.size());
      cell.text = record.substr(at, end - at);
      if (cell.text.find('"') != cell.text.npos) {
        return in_cell(used, "a quote inside an unquoted cell", "quote the cell and double it");
      }
      at = end;
    }
    if (at == record.size()) break;
    ++at;
  }
  cells.resize(used);
  return true;
}

void append_csv_cell(std::string& out, std::string_view text) {
  if (!text.empty() && text.find_first_of(",\"\r\n") == text.npos) {
    out += text;
    return;
  }
  out += '"';
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  out += '"';
}

}  // namespace gorgo::codec
