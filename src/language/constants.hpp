#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "language/ast.hpp"
#include "language/reporter.hpp"

namespace gorgo::language {

/// The constants of one file: `const limit = 45;`. A name stands for its literal in all rules
/// behind the declaration, wherever an attribute could stand alone.
class Constants {
 public:
  /// `value` is a literal or a duration; unset: it was reported. A name that is taken is reported.
  void declare(const ast::Name& name, std::optional<ast::Expr> value, Reporter& reporter);
  /// Takes note of attributes. Reports those that a rule could not name, because a constant has
  /// their name.
  void note(const std::vector<ast::AttributeDeclaration>& attributes, Reporter& reporter);
  /// Puts literals in the places of names. A name that stands where only a constant may is
  /// reported when it is none.
  void put_into(ast::RuleDefinition& rule, Reporter& reporter) const;
  /// In the order of the text.
  std::vector<ast::Name> names() const;

 private:
  void put_into(ast::Predicate& predicate, Reporter& reporter) const;
  void put_into(ast::Clause& clause, Reporter& reporter) const;
  void put_into(ast::Expr& expr, Reporter& reporter) const;
  void put_into(ast::Span& span, Reporter& reporter) const;
  void put_into(ast::Limit& limit, Reporter& reporter) const;
  void put_into(ast::Annotation& annotation, Reporter& reporter) const;
  void report_unknown(const ast::Name& name, std::string hint, Reporter& reporter) const;
  std::optional<std::int64_t> number_of(const ast::Name& name, const std::string& example,
                                        Reporter& reporter) const;

  struct Constant {
    std::optional<ast::Expr> value;  ///< unset: it is none, which was reported
    Location at;
  };
  std::unordered_map<std::string, Constant> constants_;
  std::unordered_map<std::string, Location> attributes_;  // of the file so far
};

}  // namespace gorgo::language
