#pragma once

#include <memory>
#include <vector>

#include "TeslaLexer.h"

namespace gorgo::language {

/// The tokens between two semicolons of a text (`;` stands nowhere inside an item). The last one
/// has the type EOF: it stands for the `;`, or for the end of the text.
struct ItemTokens {
  std::vector<std::unique_ptr<antlr4::Token>> tokens;
  bool last = false;  ///< the text ends here

  /// Number of tokens without the end.
  std::size_t size() const { return tokens.size() - 1; }
};

/// Reads up to the next `;`. Tokens beyond `max_tokens` are skipped, so `size() > max_tokens` tells
/// an item that is too long.
ItemTokens read_item(grammar::TeslaLexer& lexer, std::size_t max_tokens);

/// Hands an item's tokens, from the one at `begin`, to a parser.
class ItemStream final : public antlr4::TokenStream {
 public:
  /// `item` and `lexer` must outlive the stream.
  ItemStream(const ItemTokens& item, std::size_t begin, antlr4::TokenSource& lexer)
      : item_(item), begin_(begin), position_(begin), lexer_(lexer) {}

  antlr4::Token* LT(ssize_t k) override;
  antlr4::Token* get(std::size_t index) const override { return item_.tokens[index].get(); }
  antlr4::TokenSource* getTokenSource() const override { return &lexer_; }
  std::string getText(const antlr4::misc::Interval& interval) override;
  std::string getText() override;
  std::string getText(antlr4::RuleContext* context) override;
  std::string getText(antlr4::Token* start, antlr4::Token* stop) override;

  void consume() override;
  std::size_t LA(ssize_t i) override { return LT(i)->getType(); }
  ssize_t mark() override { return 0; }
  void release(ssize_t) override {}
  std::size_t index() override { return position_; }
  void seek(std::size_t index) override { position_ = index; }
  std::size_t size() override { return item_.tokens.size(); }
  std::string getSourceName() const override { return UNKNOWN_SOURCE_NAME; }

 private:
  const ItemTokens& item_;
  std::size_t begin_;
  std::size_t position_;
  antlr4::TokenSource& lexer_;
};

}  // namespace gorgo::language
