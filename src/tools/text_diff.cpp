#include "tools/text_diff.hpp"

#include <algorithm>
#include <cstdint>

namespace gorgo::tools {
namespace {

using Lines = std::vector<std::string>;

/// Where there are more pairs of lines to compare, the two lists are shown one behind the other.
constexpr std::size_t kMaxPairs = 4'000'000;
/// Common lines shown around a difference.
constexpr std::size_t kContext = 3;

/// length[i][j] is that of the longest common subsequence of the lists from i and j on.
std::vector<std::vector<std::uint32_t>> common_lengths(const Lines& a, const Lines& b) {
  std::vector length(a.size() + 1, std::vector<std::uint32_t>(b.size() + 1, 0));
  for (std::size_t i = a.size(); i-- > 0;) {
    for (std::size_t j = b.size(); j-- > 0;) {
      length[i][j] =
          a[i] == b[j] ? length[i + 1][j + 1] + 1 : std::max(length[i + 1][j], length[i][j + 1]);
    }
  }
  return length;
}

bool near_a_difference(const std::vector<Edit>& edits, std::size_t at) {
  const std::size_t from = at > kContext ? at - kContext : 0;
  const std::size_t to = std::min(at + kContext + 1, edits.size());
  return std::any_of(edits.begin() + static_cast<std::ptrdiff_t>(from),
                     edits.begin() + static_cast<std::ptrdiff_t>(to),
                     [](const Edit& edit) { return edit.mark != ' '; });
}

}  // namespace

std::vector<Edit> edits_between(const Lines& a, const Lines& b) {
  std::vector<Edit> edits;
  std::size_t i = 0, j = 0;
  if (a.size() * b.size() <= kMaxPairs) {
    const auto length = common_lengths(a, b);
    while (i < a.size() && j < b.size()) {
      if (a[i] == b[j]) {
        edits.push_back({' ', &a[i++]});
        ++j;
      } else if (length[i + 1][j] >= length[i][j + 1]) {
        edits.push_back({'-', &a[i++]});
      } else {
        edits.push_back({'+', &b[j++]});
      }
    }
  }
  for (; i < a.size(); ++i) edits.push_back({'-', &a[i]});
  for (; j < b.size(); ++j) edits.push_back({'+', &b[j]});
  return edits;
}

std::string diff(const Lines& expected, const Lines& actual) {
  const auto edits = edits_between(expected, actual);
  std::string text;
  bool cut = false;
  for (std::size_t i = 0; i < edits.size(); ++i) {
    if (near_a_difference(edits, i)) {
      text += std::string("  ") + edits[i].mark + ' ' + *edits[i].line + '\n';
      cut = false;
    } else if (!cut) {
      text += "    ...\n";
      cut = true;
    }
  }
  return text;
}

}  // namespace gorgo::tools
