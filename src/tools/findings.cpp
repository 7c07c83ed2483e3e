#include "tools/findings.hpp"

#include <algorithm>
#include <cstdint>

namespace gorgo::tools {
namespace {

/// With fewer events, that a rule fired for none or for all of them is no sign of anything.
constexpr std::uint64_t kEnough = 100;

std::string times(std::uint64_t count, const std::string& what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

std::string readers_of(const std::string& type, const std::vector<RuleInfo>& rules) {
  constexpr std::size_t kMost = 5;
  std::string names;
  std::size_t readers = 0;
  for (const RuleInfo& rule : rules) {
    if (std::ranges::find(rule.reads, type) == rule.reads.end()) continue;
    if (++readers <= kMost) names += (names.empty() ? "" : ", ") + rule.name;
  }
  return readers > kMost ? names + " and " + std::to_string(readers - kMost) + " more" : names;
}

std::string listed(const std::vector<std::string>& names) {
  constexpr std::size_t kMost = 10;
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), kMost); ++i) {
    text += (text.empty() ? "" : ", ") + names[i];
  }
  return names.size() > kMost ? text + " and " + std::to_string(names.size() - kMost) + " more"
                              : text;
}

/// Compares what comes of a type with what is read of it.
void compare(const TypeInfo& type, const std::vector<RuleInfo>& rules,
             std::vector<std::string>& findings) {
  if (type.is_unread && !type.is_subscribed) {
    findings.push_back(times(type.accepted, "event") + " of type " + type.name +
                       " came, which no rule reads and nobody subscribes to: is a rule or a "
                       "publisher wrong about the name?");
    return;
  }
  if (!type.missing_attributes.empty()) {
    findings.push_back("Rules (" + readers_of(type.name, rules) + ") read of " + type.name +
                       " what none of its " + times(type.accepted, "event") +
                       " had: " + listed(type.missing_attributes));
  }
  if (!type.unread_attributes.empty() && !type.is_subscribed) {
    findings.push_back("Events of type " + type.name +
                       " carry what no rule reads: " + listed(type.unread_attributes));
  }
}

void examine(const TypeInfo& type, const std::vector<RuleInfo>& rules,
             std::vector<std::string>& findings) {
  const std::string name = type.name.empty() ? "types that no rule reads" : type.name;
  compare(type, rules, findings);
  const bool has_readers = !readers_of(type.name, rules).empty();
  if (has_readers && !type.is_unread && type.seen == 0) {
    findings.push_back("No event of type " + name + " has come since rules read it (" +
                       readers_of(type.name, rules) + "): is it published under another name?");
  }
  if (type.too_late > 0) {
    findings.push_back(times(type.too_late, "event") + " of " + name +
                       " came too late and were refused: is a publisher behind, or the clock of "
                       "another one fast?");
  }
}

/// How many events of the rarest type that it reads the rule could have seen.
std::uint64_t chances_of(const RuleInfo& rule, const std::vector<TypeInfo>& types) {
  std::uint64_t least = rule.reads.empty() ? 0 : UINT64_MAX;
  for (const std::string& read : rule.reads) {
    const auto type = std::ranges::find(types, read, &TypeInfo::name);
    least = std::min(least, type == types.end() ? 0 : type->seen);
  }
  return least;
}

void examine(const RuleInfo& rule, const std::vector<TypeInfo>& types,
             std::vector<std::string>& findings) {
  const auto find = [&](const std::string& what) {
    findings.push_back("Rule " + rule.name + " " + what);
  };
  const std::uint64_t chances = chances_of(rule, types);
  if (rule.composites == 0 && chances >= kEnough) {
    find("has never fired, although each type that it reads has had " + times(chances, "event") +
         " or more: `gorgo why --rule " + rule.name + "` says what they fail.");
  }
  // A rule that reads a single type may well be meant to fire for each terminator.
  const bool nearly_always = rule.composites >= rule.terminators - rule.terminators / 100;
  if (rule.reads.size() > 1 && rule.terminators >= kEnough && nearly_always) {
    find("has fired for every one of its " + times(rule.terminators, "terminator") +
         ", or nearly so: are its conditions always true?");
  }
  if (rule.suspended || rule.passed_over > 0) {
    find("has used up its time, and " + times(rule.passed_over, "terminator") +
         " were passed over: see dispatch.max_rule_time_ms.");
  }
  if (rule.overflows > 0) {
    find("has given up " + times(rule.overflows, "terminator") +
         " at max_sequences: narrow its windows or conditions.");
  }
  if (!rule.alarm.empty()) find("has had different results on two engines: please report it.");
}

}  // namespace

std::vector<std::string> findings_about(const std::vector<RuleInfo>& rules,
                                        const std::vector<TypeInfo>& types) {
  std::vector<std::string> findings;
  for (const TypeInfo& type : types) examine(type, rules, findings);
  for (const RuleInfo& rule : rules) examine(rule, types, findings);
  return findings;
}

}  // namespace gorgo::tools
