#include "server/security/name_patterns.hpp"

#include <algorithm>

namespace gorgo::server {
namespace {

/// Goes on behind the last star when what follows it does not match. What an earlier star stands
/// for is never tried again, so that the cost is at most that of both lengths multiplied.
bool matches(std::string_view pattern, std::string_view name) {
  std::size_t p = 0, n = 0, star = pattern.npos, from = 0;
  while (n < name.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      from = n;
    } else if (p < pattern.size() && pattern[p] == name[n]) {
      ++p;
      ++n;
    } else if (star != pattern.npos) {
      p = star + 1;
      n = ++from;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

bool any_matches(const std::vector<std::string>& patterns, std::string_view name) {
  return std::ranges::any_of(patterns, [&](const auto& p) { return matches(p, name); });
}

std::string joined(const std::vector<std::string>& patterns) {
  std::string all;
  for (const auto& pattern : patterns) all += (all.empty() ? "" : ", ") + pattern;
  return all;
}

}  // namespace

bool NamePatterns::allows(std::string_view name) const {
  return any_matches(allow, name) && !any_matches(deny, name);
}

bool NamePatterns::allows_all() const {
  return deny.empty() && std::ranges::find(allow, "*") != allow.end();
}

std::string to_string(const NamePatterns& patterns) {
  if (patterns.allow.empty()) return "none";
  const std::string allowed = joined(patterns.allow);
  return patterns.deny.empty() ? allowed : allowed + ", but not " + joined(patterns.deny);
}

}  // namespace gorgo::server
