#include "language/names.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>

namespace gorgo::language {
namespace {

constexpr std::array<std::string_view, 5> kReserved = {"and", "or", "not", "true", "false"};
constexpr std::array<std::string_view, 8> kKeywords = {"define", "from",    "where", "consuming",
                                                       "within", "between", "after", "as"};

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

template <std::size_t N>
bool holds(const std::array<std::string_view, N>& words, const std::string& word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

}  // namespace

void check_name(const ast::Name& name, std::string_view what, Reporter& reporter) {
  const std::string word = lower(name.text);
  if (!holds(kReserved, word) && !holds(kKeywords, word)) return;
  reporter.error(name.at, in_quotes(name.text) + " cannot be the name of " + std::string(what),
                 "it is a word of the language, in upper or lower case");
}

void check_attribute_name(const ast::Name& name, Reporter& reporter) {
  const std::string word = lower(name.text);
  if (name.text == "timestamp") {
    reporter.error(name.at, "`timestamp` cannot be the name of an attribute",
                   "it means the time of the event, which every event has");
  } else if (holds(kReserved, word)) {
    reporter.error(name.at, in_quotes(name.text) + " cannot be the name of an attribute",
                   "it is a word of the language, in upper or lower case");
  }
}

RuleNames::RuleNames(const Source& source, const std::vector<const ast::RuleDefinition*>& rules,
                     Reporter& reporter)
    : stem_(std::filesystem::path(source.path).stem().string()) {
  for (const auto* rule : rules) {
    if (!rule->name) continue;
    check_name(*rule->name, "a rule", reporter);
    const auto [it, added] = given_.emplace(rule->name->text, rule->name->at);
    if (!added) {
      reporter.error(
          rule->name->at,
          "a rule named " + in_quotes(rule->name->text) + " stands already at " + place(it->second),
          "rules are replaced and removed by name, so each needs its own");
    }
  }
}

std::string RuleNames::full_name(const ast::RuleDefinition& rule) {
  if (rule.name) return rule.name->text;
  const std::string base = stem_.empty() ? rule.type.text : stem_ + "." + rule.type.text;
  while (true) {
    const int count = ++made_up_[base];
    std::string name = count == 1 ? base : base + "." + std::to_string(count);
    if (!given_.contains(name)) return name;
  }
}

std::vector<std::string> rule_names(const ast::File& file, const Source& source) {
  std::vector<const ast::RuleDefinition*> rules;
  for (const ast::Item& item : file.items) {
    if (const auto* rule = std::get_if<ast::RuleDefinition>(&item)) rules.push_back(rule);
  }
  Reporter unused(source.path, source.text);
  RuleNames naming(source, rules, unused);
  std::vector<std::string> names;
  for (const auto* rule : rules) names.push_back(naming.full_name(*rule));
  return names;
}

}  // namespace gorgo::language
