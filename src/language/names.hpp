#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "language/ast.hpp"
#include "language/language.hpp"
#include "language/reporter.hpp"

namespace gorgo::language {

/// Reports what codec/names.hpp finds wrong. `what` is "a type", "an alias" or "a rule".
void check_name(const ast::Name& name, std::string_view what, Reporter& reporter);
/// Does for attributes, which may have more names than types, what `check_name` does.
void check_attribute_name(const ast::Name& name, Reporter& reporter);

/// Gives the rules of a file their full names (language.md §2).
class RuleNames {
 public:
  /// `rules` are all of the file, because the given names are taken before any is made up.
  RuleNames(const Source& source, const std::vector<const ast::RuleDefinition*>& rules,
            Reporter& reporter);
  /// Call it once for each rule, in text order.
  std::string full_name(const ast::RuleDefinition& rule);

 private:
  std::string stem_;
  std::unordered_map<std::string, Location> given_;
  std::unordered_map<std::string, int> made_up_;  // by `<stem>.<Type>`: how many
};

/// The full names that the rules of a file would get, in text order. What is wrong with them is
/// reported when the file is bound.
std::vector<std::string> rule_names(const ast::File& file, const Source& source);

}  // namespace gorgo::language
