#pragma once

#include "TeslaParser.h"
#include "language/item_stream.hpp"
#include "language/reporter.hpp"

namespace gorgo::language {

/// Where a parser stopped, and what it could have gone on with. Thrown by `StopAtFirstError` and
/// caught by whoever runs the parser. Deliberately no antlr4::RecognitionException: generated code
/// catches those.
struct SyntaxError {
  antlr4::Token* offending = nullptr;
  antlr4::misc::IntervalSet expected;
  antlr4::RuleContext* context = nullptr;  ///< the rule that was being read; owned by the parser

  bool expects(std::size_t token) const { return expected.contains(token); }
  /// Whether the parser was inside `rule` (of any depth).
  bool inside(std::size_t rule) const;
};

/// The error strategy that does not recover: the first error ends the parse, so no tree with a
/// repaired part ever exists.
class StopAtFirstError final : public antlr4::ANTLRErrorStrategy {
 public:
  void reset(antlr4::Parser*) override { seen_ = kNowhere; }
  antlr4::Token* recoverInline(antlr4::Parser* parser) override { fail(*parser, nullptr); }
  void recover(antlr4::Parser* parser, std::exception_ptr) override { fail(*parser, nullptr); }
  void sync(antlr4::Parser* parser) override;
  bool inErrorRecoveryMode(antlr4::Parser*) override { return false; }
  void reportMatch(antlr4::Parser*) override {}
  void reportError(antlr4::Parser* parser, const antlr4::RecognitionException& error) override;

 private:
  static constexpr std::size_t kNowhere = ~std::size_t{0};

  [[noreturn]] void fail(antlr4::Parser& parser, antlr4::Token* offending);

  // Optional parts that were passed over at the present token are expected there too: the first
  // decision taken at a token knows them all.
  std::size_t seen_ = kNowhere;
  std::size_t state_ = 0;
  antlr4::ParserRuleContext* context_ = nullptr;
};

/// Reports `error` in words.
void report(const SyntaxError& error, const ItemTokens& item, Reporter& reporter);

/// "unexpected X" or "unexpected end", as messages begin.
std::string describe(const antlr4::Token& token);
/// "a type, ',' or ')'": what the error's rule could have gone on with.
std::string expected_words(const SyntaxError& error);

/// Whether the token at `index` begins an item and stands first on its line, so that a missing `;`
/// is the likely reason to find it inside another item.
bool begins_item(const ItemTokens& item, std::size_t index);

/// The place of `token`; the end of the text lies behind the last token.
Location locate(const antlr4::Token& token, const ItemTokens& item, const Reporter& reporter);

}  // namespace gorgo::language
