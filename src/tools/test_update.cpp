#include "tools/test_update.hpp"

#include <cstdint>
#include <map>
#include <set>

#include "tools/text_diff.hpp"

namespace gorgo::tools {
namespace {

struct Changes {
  std::set<std::uint32_t> removed;                             // numbers of lines
  std::map<std::uint32_t, std::vector<std::string>> inserted;  // behind a line
};

void add_changes(const TestUpdate& update, Changes& changes) {
  std::uint32_t line = update.test->expected_line;
  std::size_t next = 0;  // of the expected events
  for (const Edit& edit : edits_between(update.before, update.expected)) {
    if (edit.mark == '+') {
      changes.inserted[line].push_back(*edit.line);
      continue;
    }
    line = update.test->expected_lines[next++];
    if (edit.mark == '-') changes.removed.insert(line);
  }
}

}  // namespace

std::string with_expectations(std::string_view text, std::span<const TestUpdate> updates) {
  Changes changes;
  for (const TestUpdate& update : updates) add_changes(update, changes);
  const bool has_returns = text.substr(0, text.find('\n')).ends_with('\r');
  const std::string end = has_returns ? "\r\n" : "\n";
  std::string out;
  for (std::uint32_t line = 1; !text.empty(); ++line) {
    const std::size_t size = std::min(text.find('\n'), text.size() - 1) + 1;
    if (!changes.removed.contains(line)) out += text.substr(0, size);
    text.remove_prefix(size);
    const auto inserted = changes.inserted.find(line);
    if (inserted == changes.inserted.end()) continue;
    if (!out.ends_with('\n')) out += end;
    for (const std::string& event : inserted->second) out += "  " + event + end;
  }
  return out;
}

}  // namespace gorgo::tools
