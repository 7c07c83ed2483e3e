#include "codec/csv.hpp"

namespace gorgo::codec {
namespace {

Error in_cell(std::size_t number, std::string what, std::string hint) {
  return {"cell " + std::to_string(number) + ": " + std::move(what), std::move(hint)};
}

}  // namespace

/// Reads a quoted cell whose opening quote stands at `at`; leaves `at` behind the closing one.
bool CsvSplitter::take_quoted(std::string_view record, std::size_t& at, CsvCell& cell) {
  cell.quoted = true;
  const std::size_t begin = ++at;
  const std::size_t kept = unescaped_.size();
  std::size_t copied = begin;  // what stands before is in `unescaped_`, if there is a doubled quote
  while ((at = record.find('"', at)) != record.npos) {
    const bool doubled = at + 1 < record.size() && record[at + 1] == '"';
    if (!doubled) break;
    unescaped_.append(record, copied, at + 1 - copied);
    at += 2;
    copied = at;
  }
  if (at == record.npos) return false;
  if (copied == begin) {
    cell.text = record.substr(begin, at - begin);
  } else {
    unescaped_.append(record, copied, at - copied);
    cell.text = std::string_view(unescaped_).substr(kept);
  }
  ++at;
  return true;
}

Result<bool> CsvSplitter::split(std::string_view record, char separator) {
  cells_.clear();
  unescaped_.clear();
  unescaped_.reserve(record.size());
  std::size_t at = 0;
  while (true) {
    CsvCell& cell = cells_.emplace_back();
    if (at < record.size() && record[at] == '"') {
      if (!take_quoted(record, at, cell)) return false;
      if (at < record.size() && record[at] != separator) {
        return in_cell(cells_.size(), "text behind the closing quote",
                       "double a quote inside a cell: \"\"");
      }
    } else {
      const std::size_t begin = at;
      while (at < record.size() && record[at] != separator && record[at] != '"') ++at;
      if (at < record.size() && record[at] != separator) {
        return in_cell(cells_.size(), "a quote inside an unquoted cell",
                       "quote the cell and double it");
      }
      cell.text = record.substr(begin, at - begin);
    }
    if (at == record.size()) return true;
    ++at;
  }
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
