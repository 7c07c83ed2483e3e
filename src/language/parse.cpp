#include <algorithm>

#include "language/build_item.hpp"
#include "language/byte_stream.hpp"
#include "language/item_stream.hpp"
#include "language/language.hpp"
#include "language/parse_items.hpp"
#include "language/reporter.hpp"
#include "language/syntax_error.hpp"
#include "language/token_reader.hpp"

namespace gorgo::language {
namespace {

using grammar::TeslaLexer;
using grammar::TeslaParser;

constexpr std::size_t kMaxText = std::size_t{16} << 20;
constexpr std::size_t kMaxNesting = 256;
/// Bounds the memory that one item can take, some hundred bytes a token.
constexpr std::size_t kMaxTokens = 250'000;

/// Brackets nested too deeply would exhaust the stack of the recursive descent.
const antlr4::Token* too_deep(const ItemTokens& item) {
  std::size_t depth = 0;
  for (const auto& token : item.tokens) {
    const auto type = token->getType();
    if (type == TeslaLexer::LPAREN && ++depth > kMaxNesting) return token.get();
    if (type == TeslaLexer::RPAREN && depth > 0) --depth;
  }
  return nullptr;
}

/// Reports what makes it impossible to parse the item at all.
bool within_limits(const ItemTokens& item, Reporter& reporter) {
  if (item.size() > kMaxTokens) {
    reporter.error(locate(*item.tokens[0], item, reporter),
                   "a rule of more than " + std::to_string(kMaxTokens) + " words",
                   "is a `;` missing?");
    return false;
  }
  if (const auto* token = too_deep(item); token != nullptr) {
    reporter.error(locate(*token, item, reporter),
                   "brackets are nested more than " + std::to_string(kMaxNesting) + " deep");
    return false;
  }
  return true;
}

/// Where to go on behind an error: at the next item that begins on a line of its own (its
/// predecessor lacks the `;`), else at the end.
std::size_t next_item(const ItemTokens& item, std::size_t from) {
  while (from < item.size() && !begins_item(item, from)) ++from;
  return from;
}

/// Parses the tokens from `begin` with `read`, or reports the error that stops it and returns the
/// token to go on from.
template <class F>
std::size_t parse_item(const ItemTokens& item, std::size_t begin, TeslaLexer& lexer,
                       Reporter& reporter, const F& read) {
  ItemStream stream(item, begin, lexer);
  TeslaParser parser(&stream);
  parser.removeErrorListeners();
  parser.setErrorHandler(std::make_shared<StopAtFirstError>());
  try {
    read(parser);
    return item.size();
  } catch (const SyntaxError& error) {
    report(error, item, reporter);
    const std::size_t index = error.offending->getTokenIndex();
    return next_item(item, index > begin ? index : begin + 1);
  }
}

/// Whether the text is short enough, which is checked before anything else looks at it.
bool fits(std::string_view text, Reporter& reporter) {
  if (text.size() <= kMaxText) return true;
  reporter.error({}, "the text is longer than 16 MiB", "divide it into several files");
  return false;
}

}  // namespace

void parse_items(const Source& source, Reporter& reporter,
                 const std::function<void(TeslaParser::ItemContext*)>& take) {
  if (!fits(source.text, reporter)) return;
  ByteStream bytes(source.text);
  TeslaLexer lexer(&bytes);
  lexer.removeErrorListeners();
  ItemTokens item;
  while (!item.last && !reporter.full()) {
    item = read_item(lexer, kMaxTokens);
    if (item.size() == 0 || !within_limits(item, reporter)) continue;
    std::size_t at = 0;
    while (at < item.size() && !reporter.full()) {
      at = parse_item(item, at, lexer, reporter, [&](TeslaParser& parser) { take(parser.item()); });
    }
  }
}

ParsedFile parse(const Source& source) {
  ParsedFile result;
  Reporter reporter(source.path, source.text);
  ItemBuilder builder(reporter);
  parse_items(source, reporter, [&](TeslaParser::ItemContext* item) {
    if (auto built = builder.item(item)) result.file.items.push_back(std::move(*built));
  });
  result.file.constants = builder.constants();
  result.diagnostics = reporter.take();
  if (result.diagnostics.failed()) result.file = {};
  return result;
}

std::vector<ConstantText> constants_of(const Source& source) {
  std::vector<ConstantText> constants;
  Reporter reporter(source.path, source.text);
  parse_items(source, reporter, [&](TeslaParser::ItemContext* item) {
    auto* constant = item->constant();
    if (constant == nullptr) return;
    const auto* value = constant->factor();
    const std::size_t begin = value->start->getStartIndex();
    constants.push_back({.name = constant->attributeName()->getText(),
                         .begin = begin,
                         .size = value->stop->getStopIndex() + 1 - begin});
  });
  return constants;
}

ParsedPredicate parse_predicate(std::string_view text) {
  ParsedPredicate result;
  Reporter reporter("subscription", text);
  if (fits(text, reporter)) {
    ByteStream bytes(text);
    TeslaLexer lexer(&bytes);
    lexer.removeErrorListeners();
    const ItemTokens item = read_item(lexer, kMaxTokens);
    if (!item.last) {
      reporter.error(locate(*item.tokens.back(), item, reporter), "unexpected `;`",
                     "a subscription is one predicate");
    } else if (within_limits(item, reporter)) {
      parse_item(item, 0, lexer, reporter, [&](TeslaParser& parser) {
        auto* const subscription = parser.subscription();
        result.predicate = build_subscription(subscription, reporter);
        if (auto* action = subscription->action(); action != nullptr) {
          result.action = TokenReader(reporter).action(action);
        }
      });
    }
  }
  result.diagnostics = reporter.take();
  if (result.diagnostics.failed()) result.predicate = {};
  return result;
}

}  // namespace gorgo::language
