#include "gorgo/diagnostics.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>
#include <stdexcept>

namespace gorgo {
namespace {

/// Nobody mistypes a longer name, and comparing names costs time in proportion to their squares.
constexpr std::size_t kLongestName = 100;

std::string_view name_of(Severity severity) {
  return severity == Severity::error ? "error" : "warning";
}

/// Optimal string alignment distance (a swap of neighbours counts as one), case-insensitive in
/// ASCII.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  const auto same = [](char x, char y) { return (x | 0x20) == (y | 0x20); };
  std::vector<std::size_t> before(b.size() + 1), previous(b.size() + 1), row(b.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::swap(before, previous);
    std::swap(previous, row);
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t substituted = previous[j - 1] + (same(a[i - 1], b[j - 1]) ? 0 : 1);
      row[j] = std::min({previous[j] + 1, row[j - 1] + 1, substituted});
      const bool swapped = i > 1 && j > 1 && same(a[i - 1], b[j - 2]) && same(a[i - 2], b[j - 1]);
      if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
  }
  return row.back();
}

/// The source line, and a caret below the place.
std::string render_caret(const Diagnostic& d) {
  std::string text = "  " + d.source_line + "\n  ";
  // Tabs are kept so that the caret stands below its column however wide they are shown.
  for (std::uint32_t i = 0; i + 1 < d.at.column; ++i) {
    text += i < d.source_line.size() && d.source_line[i] == '\t' ? '\t' : ' ';
  }
  return text + "^" + std::string(d.at.length > 1 ? d.at.length - 1 : 0, '~') + "\n";
}

}  // namespace

std::string render(const Diagnostic& d) {
  std::string text = d.file + ":" + std::to_string(d.at.line) + ":" + std::to_string(d.at.column) +
                     ": " + std::string(name_of(d.severity)) + ": " + d.message + "\n";
  if (!d.source_line.empty()) text += render_caret(d);
  if (!d.hint.empty()) text += "  hint: " + d.hint + "\n";
  return text;
}

std::string render_json(const Diagnostic& d) {
  const nlohmann::ordered_json json = {{"severity", name_of(d.severity)},
                                       {"file", d.file},
                                       {"line", d.at.line},
                                       {"column", d.at.column},
                                       {"length", d.at.length},
                                       {"message", d.message},
                                       {"hint", d.hint}};
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

bool Diagnostics::failed() const {
  return std::any_of(list.begin(), list.end(),
                     [](const Diagnostic& d) { return d.severity == Severity::error; });
}

std::string Diagnostics::render() const {
  std::string text;
  for (const auto& diagnostic : list) text += gorgo::render(diagnostic);
  return text;
}

std::string Error::to_string() const {
  return hint.empty() ? message : message + " (" + hint + ")";
}

void throw_unchecked(const Error& error) {
  throw std::logic_error("unchecked error: " + error.to_string());
}

std::string_view closest_name(std::string_view name, const std::vector<std::string>& candidates) {
  std::string_view best;
  std::size_t best_distance = std::max<std::size_t>(1, name.size() / 3) + 1;
  if (name.size() > kLongestName) return best;
  for (const auto& candidate : candidates) {
    const std::size_t least =
        std::max(name.size(), candidate.size()) - std::min(name.size(), candidate.size());
    if (least >= best_distance) continue;
    const std::size_t distance = edit_distance(name, candidate);
    if (distance < best_distance) {
      best = candidate;
      best_distance = distance;
    }
  }
  return best;
}

}  // namespace gorgo
