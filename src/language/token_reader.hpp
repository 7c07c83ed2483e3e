#pragma once

#include <string>

#include "TeslaParser.h"
#include "language/ast.hpp"
#include "language/reporter.hpp"

namespace gorgo::language {

/// Reads names, literals and units from the tokens of a parse tree, and reports those that mean
/// nothing. A value of the right type stands in for such a literal.
class TokenReader {
 public:
  using Parser = grammar::TeslaParser;

  /// `reporter` must outlive the reader.
  explicit TokenReader(Reporter& reporter) : reporter_(reporter) {}

  Location locate(const antlr4::Token* token) const;
  ast::Name name(antlr4::ParserRuleContext* word) const;
  /// The name of a type that is read. Reports a type of the server's own that there is not.
  ast::Name read_type(antlr4::ParserRuleContext* word);
  /// Reads `Temp or Humidity`, the types of a predicate.
  template <class Words>
  void read_types(const Words& words, ast::Predicate& predicate) {
    predicate.type = read_type(words.front());
    if (words.size() == 1) return;
    for (auto* word : words) add_type(read_type(word), predicate);
    join_types(predicate);
  }
  ast::Action action(Parser::ActionContext* action);
  ValueType value_type(Parser::ValueTypeContext* word);

  std::int64_t integer(antlr4::Token* digits, bool negative = false);
  double floating(antlr4::Token* digits, bool negative);
  std::string text(antlr4::Token* literal);
  /// The nanoseconds of `digits` units.
  Duration duration(antlr4::Token* digits, Parser::UnitContext* unit, bool negative);
  /// The nanoseconds of one unit.
  Duration unit(Parser::UnitContext* unit);

 private:
  void add_type(ast::Name type, ast::Predicate& predicate);
  static void join_types(ast::Predicate& predicate);

  Reporter& reporter_;
};

}  // namespace gorgo::language
