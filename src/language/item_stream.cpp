#include "language/item_stream.hpp"

#include <algorithm>

namespace gorgo::language {
namespace {

antlr4::WritableToken& writable(antlr4::Token& token) {
  return dynamic_cast<antlr4::WritableToken&>(token);
}

}  // namespace

ItemTokens read_item(grammar::TeslaLexer& lexer, std::size_t max_tokens) {
  ItemTokens item;
  while (true) {
    auto token = lexer.nextToken();
    item.last = token->getType() == antlr4::Token::EOF;
    const bool end = item.last || token->getType() == grammar::TeslaLexer::SEMICOLON;
    if (end) writable(*token).setType(antlr4::Token::EOF);
    writable(*token).setTokenIndex(item.tokens.size());
    if (end || item.tokens.size() <= max_tokens) item.tokens.push_back(std::move(token));
    if (end) return item;
  }
}

antlr4::Token* ItemStream::LT(ssize_t k) {
  if (k == 0) return nullptr;
  if (k < 0) {
    const auto back = static_cast<std::size_t>(-k);
    return position_ < begin_ + back ? nullptr : get(position_ - back);
  }
  return get(std::min(position_ + static_cast<std::size_t>(k) - 1, item_.size()));
}

void ItemStream::consume() {
  // The parser consumes the end as it consumes any other token, and stays there.
  if (position_ < item_.size()) ++position_;
}

std::string ItemStream::getText(const antlr4::misc::Interval& interval) {
  std::string text;
  for (ssize_t i = interval.a; i <= interval.b; ++i) {
    text += get(static_cast<std::size_t>(i))->getText();
  }
  return text;
}

std::string ItemStream::getText() {
  return getText(antlr4::misc::Interval(begin_, item_.tokens.size() - 1));
}

std::string ItemStream::getText(antlr4::RuleContext* context) {
  return getText(context->getSourceInterval());
}

std::string ItemStream::getText(antlr4::Token* start, antlr4::Token* stop) {
  return getText(antlr4::misc::Interval(start->getTokenIndex(), stop->getTokenIndex()));
}

}  // namespace gorgo::language
