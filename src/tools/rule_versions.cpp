#include "tools/rule_versions.hpp"

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <sstream>
#include <utility>

#include "base/file.hpp"
#include "codec/timestamp.hpp"
#include "language/language.hpp"
#include "language/names.hpp"
#include "tools/color.hpp"
#include "tools/commands.hpp"
#include "tools/listing.hpp"
#include "tools/output.hpp"
#include "tools/print_json.hpp"
#include "tools/text_diff.hpp"

namespace gorgo::tools {
namespace {

std::string what(const RuleChange& change) {
  if (change.text.empty()) return "removed";
  return change.file ? "rule file" : "deployed";
}

/// What a change made of a deployment.
struct Version {
  RuleChange change;               ///< with the whole text; an empty one has no rules
  std::vector<std::string> rules;  ///< full names of those in force
};

std::vector<std::string> rules_in(const RuleChange& change) {
  const language::Source source{change.name, change.text};
  const auto parsed = language::parse(source);
  return language::rule_names(parsed.file, source);
}

/// A text with only these of its rules; empty without any.
std::string only(const std::vector<std::string>& rules, const RuleChange& change) {
  if (rules.empty()) return "";
  const language::Source source{change.name, change.text};
  const auto parsed = language::parse(source);
  auto name = language::rule_names(parsed.file, source);
  std::string text = change.text;
  for (auto item = parsed.file.items.rbegin(); item != parsed.file.items.rend(); ++item) {
    const auto* rule = std::get_if<ast::RuleDefinition>(&*item);
    if (rule == nullptr) continue;
    const bool stays = std::ranges::find(rules, name.back()) != rules.end();
    name.pop_back();
    if (stays) continue;
    std::size_t end = std::min(text.find(';', rule->end_offset), text.size() - 1) + 1;
    if (end < text.size() && text[end] == '\n') ++end;
    text.erase(rule->begin_offset, end - rule->begin_offset);
  }
  return text;
}

/// The versions that changes of a deployment have made, in their order. The removal of rules makes
/// one, and so do those of several, as a whole deployment is removed by.
std::vector<Version> versions_by(const std::vector<RuleChange>& changes) {
  std::vector<Version> versions;
  const RuleChange* deployed = nullptr;  // the latest
  const auto complete = [&] {
    if (deployed == nullptr || versions.back().change.number == deployed->number) return;
    versions.back().change.text = only(versions.back().rules, *deployed);
  };
  for (const RuleChange& change : changes) {
    if (!change.text.empty()) {
      complete();
      deployed = &change;
      versions.push_back({change, rules_in(change)});
      continue;
    }
    if (deployed == nullptr) continue;
    auto left = versions.back().rules;
    if (std::erase(left, change.name) == 0) continue;
    if (versions.back().change.number == deployed->number) versions.push_back(versions.back());
    Version& version = versions.back();
    version.change.number = change.number;
    version.change.time = change.time;
    version.rules = std::move(left);
  }
  complete();
  return versions;
}

/// The versions of a deployment that was found, the last one at the back.
Result<std::vector<Version>> versions_of(Client& client, const std::string& name) {
  const auto changes = client.rule_history(name);
  if (!changes) return changes.error();
  auto versions = versions_by(*changes);
  if (!versions.empty()) return {std::in_place, std::move(versions)};
  return Error{"the server remembers no deployment '" + name + "'",
               "`gorgo rules history` shows those that it remembers"};
}

/// The version with this number, or, with 0, the one so far from the end.
Result<RuleChange> version(const std::vector<Version>& versions, std::uint64_t number,
                           std::size_t from_end) {
  if (number == 0) {
    if (versions.size() > from_end) {
      return {std::in_place, versions[versions.size() - 1 - from_end].change};
    }
    return Error{"the server remembers only one version of it", ""};
  }
  const auto found = std::ranges::find(
      versions, number, [](const Version& version) { return version.change.number; });
  if (found != versions.end()) return {std::in_place, found->change};
  return Error{"change " + std::to_string(number) + " is no version of it",
               "`gorgo rules history` shows the numbers"};
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

/// The content of a rule file, as if it were the next version.
Result<RuleChange> as_version(const std::string& file) {
  auto text = read_file(file);
  if (!text) return text.error();
  RuleChange change;
  change.name = file;
  change.text = *std::move(text);
  return {std::in_place, std::move(change)};
}

/// "change 5, 2024-05-01T12:00:00Z", or the name of the file that is no change yet.
std::string title_of(const RuleChange& change) {
  if (change.number == 0) return change.name;
  return "change " + std::to_string(change.number) + ", " + when(change.time);
}

/// A line of a difference, as it is shown.
std::string in_color(const std::string& line) {
  if (line.starts_with("  - ")) return colored(Color::red, line, stdout);
  return line.starts_with("  + ") ? colored(Color::green, line, stdout) : line;
}

/// Deploys the text of a version, unless it has none.
int deploy(Client& client, const RuleChange& version) {
  if (version.text.empty()) return kSuccess;
  const auto diagnostics = client.deploy(version.name, version.text, {.replace = true});
  if (!diagnostics) return fail(diagnostics.error());
  print_diagnostics(*diagnostics, "text");
  return diagnostics->failed() ? kFailure : kSuccess;
}

}  // namespace

std::string when(Timestamp time) {
  std::string text;
  codec::append_rfc3339(text, time);
  return text;
}

int print_history(Client& client, const std::string& name, bool as_json) {
  const auto changes = client.rule_history(name);
  if (!changes) return fail(changes.error());
  if (as_json) {
    auto list = nlohmann::ordered_json::array();
    for (const RuleChange& change : *changes) {
      list.push_back({{"number", change.number},
                      {"time", when(change.time)},
                      {"what", what(change)},
                      {"name", change.name},
                      {"user", change.who},
                      {"text", change.text}});
    }
    print_json(list);
    return kSuccess;
  }
  Table rows = {{"NUMBER", "TIME", "USER", "WHAT", "NAME"}};
  for (const RuleChange& change : *changes) {
    rows.push_back({std::to_string(change.number), when(change.time),
                    change.who.empty() ? "-" : change.who, what(change), change.name});
  }
  print_table(rows);
  return kSuccess;
}

int print_difference(Client& client, const VersionPair& pair) {
  const auto versions = versions_of(client, pair.name);
  if (!versions) return fail(versions.error());
  const auto old = version(*versions, pair.from, pair.file.empty() ? 1 : 0);
  const auto fresh = pair.file.empty() ? version(*versions, pair.to, 0) : as_version(pair.file);
  for (const auto* side : {&old, &fresh}) {
    if (!*side) return fail(side->error());
  }
  const auto before = lines_of(old->text), after = lines_of(fresh->text);
  if (pair.as_json) {
    auto lines = nlohmann::ordered_json::array();
    for (const Edit& edit : edits_between(before, after)) {
      lines.push_back({{"mark", std::string(1, edit.mark)}, {"line", *edit.line}});
    }
    print_json({{"from", title_of(*old)}, {"to", title_of(*fresh)}, {"lines", std::move(lines)}});
    return kSuccess;
  }
  std::printf("--- %s\n+++ %s\n", harmless(title_of(*old), stdout).c_str(),
              harmless(title_of(*fresh), stdout).c_str());
  std::istringstream lines(diff(before, after));
  for (std::string line; std::getline(lines, line);)
    std::puts(in_color(harmless(line, stdout)).c_str());
  return kSuccess;
}

int roll_back(Client& client, const std::string& name, std::uint64_t to) {
  const auto versions = versions_of(client, name);
  if (!versions) return fail(versions.error());
  const auto old = version(*versions, to, 1);
  if (!old) return fail(old.error());
  const Version& present = versions->back();
  if (const int code = deploy(client, *old); code != kSuccess) return code;
  const auto kept = rules_in(*old);
  for (const std::string& rule : present.rules) {
    if (std::ranges::find(kept, rule) != kept.end()) continue;
    if (const auto removed = client.remove(rule); !removed) return fail(removed.error());
    std::fprintf(stderr, "removed %s\n", rule.c_str());
  }
  std::fprintf(stderr, "%s is again what change %llu made of it\n", old->name.c_str(),
               static_cast<unsigned long long>(old->number));
  if (present.change.file) {
    fail(Error{"it is a rule file of the server's, which the next reload reads again",
               "change the file, too"});
  }
  return kSuccess;
}

}  // namespace gorgo::tools
