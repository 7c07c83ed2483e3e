#include "language/syntax_error.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <optional>

#include "functions/catalogue.hpp"
#include "language/call_shape.hpp"
#include "language/foreign_words.hpp"

namespace gorgo::language {
namespace {

using antlr4::Token;
using grammar::TeslaParser;

struct Message {
  std::string text;
  std::string hint;
};

std::size_t length_of(const Token& token) {
  return token.getStopIndex() - token.getStartIndex() + 1;
}

/// Whether the token is SQL's `||` beside a literal of a string.
bool joins_strings(const Token& token, const ItemTokens& item) {
  const std::size_t index = token.getTokenIndex();
  const auto is_string = [&](std::size_t at) {
    return at < item.size() && item.tokens[at]->getType() == TeslaParser::STRING;
  };
  return token.getText() == "||" && (is_string(index + 1) || (index > 0 && is_string(index - 1)));
}

/// Tokens that are legal nowhere say themselves what is wrong.
std::optional<Message> illegal_token(const Token& token) {
  const std::string text = token.getText();
  switch (token.getType()) {
    case TeslaParser::FOREIGN_OPERATOR: {
      static constexpr std::array<std::pair<const char*, const char*>, 8> kMeant = {
          {{"&&", "`and`"},
           {"&", "`and`"},
           {"||", "`or`"},
           {"|", "`or`"},
           {"==", "`=`"},
           {"<>", "`!=`"},
           {"=<", "`<=`"},
           {"!", "`not` or `!=`"}}};
      const auto* meant =
          std::ranges::find_if(kMeant, [&](const auto& pair) { return text == pair.first; });
      return Message{"there is no operator `" + text + "`", "write " + std::string(meant->second)};
    }
    case TeslaParser::UNTERMINATED_STRING:
      return Message{"the string is not closed",
                     std::string("expected `") + text[0] + "` before the end of the line"};
    case TeslaParser::UNTERMINATED_COMMENT:
      return Message{"the comment is not closed", "expected `*/`"};
    case TeslaParser::UNKNOWN: {
      static constexpr std::array<std::pair<const char*, const char*>, 5> kMeant = {
          {{"$", "a parameter is written `$name`"},
           {"~", "write `s matches \"pattern\"`"},
           {"%", "write `mod(a, b)`"},
           {"^", "write `pow(x, y)`"},
           {"?", "write `if(condition, a, b)`"}}};
      const auto* meant =
          std::ranges::find_if(kMeant, [&](const auto& pair) { return text == pair.first; });
      return Message{"unexpected " + describe(token), meant == kMeant.end() ? "" : meant->second};
    }
    default:
      return std::nullopt;
  }
}

/// "Temp(...)" where a clause wants a selection reads like a call until it is too late: finds the
/// word in front of the brackets when it is neither a function nor an aggregate.
const Token* called_type(const SyntaxError& error) {
  if (!error.inside(TeslaParser::RuleClause)) return nullptr;
  const antlr4::RuleContext* context = nullptr;  // the outermost member
  for (const antlr4::RuleContext* at = error.context; at != nullptr;
       at = dynamic_cast<const antlr4::RuleContext*>(at->parent)) {
    if (at->getRuleIndex() == TeslaParser::RulePredicate) return nullptr;
    if (at->getRuleIndex() == TeslaParser::RuleMember) context = at;
  }
  if (context == nullptr) return nullptr;
  auto* const primary = dynamic_cast<TeslaParser::PrimaryContext*>(context->parent);
  const std::string name = primary->start->getText();
  const bool known = aggregate_function(name).has_value() || functions::find(name) != nullptr;
  const bool is_call = dynamic_cast<const antlr4::ParserRuleContext*>(context)->start->getType() ==
                       TeslaParser::LPAREN;
  return known || !is_call ? nullptr : primary->start;
}

/// The innermost bracket that is open in front of the token at `end`.
const Token* open_bracket(const ItemTokens& item, std::size_t end) {
  std::vector<const Token*> open;
  for (std::size_t i = 0; i < end; ++i) {
    const Token* token = item.tokens[i].get();
    if (token->getType() == TeslaParser::LPAREN) open.push_back(token);
    if (token->getType() == TeslaParser::RPAREN && !open.empty()) open.pop_back();
  }
  return open.empty() ? nullptr : open.back();
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& candidates) {
  const auto meant = closest_name(word, candidates);
  return meant.empty() ? "" : "did you mean " + in_quotes(meant) + "?";
}

/// The hint for a word that may be a misspelt keyword, or stand behind one.
std::string keyword_hint(const SyntaxError& error, const ItemTokens& item) {
  static constexpr std::pair<std::size_t, const char*> kKeywords[] = {
      {TeslaParser::DEFINE, "define"},
      {TeslaParser::EVENT, "event"},
      {TeslaParser::CONST, "const"},
      {TeslaParser::RULE, "rule"},
      {TeslaParser::ASSIGN, "assign"},
      {TeslaParser::FROM, "from"},
      {TeslaParser::WHERE, "where"},
      {TeslaParser::CONSUMING, "consuming"},
      {TeslaParser::WITHIN, "within"},
      {TeslaParser::BETWEEN, "between"},
      {TeslaParser::AFTER, "after"},
      {TeslaParser::AND, "and"},
      {TeslaParser::INCLUSIVE, "inclusive"},
      {TeslaParser::INTERNAL, "internal"},
      {TeslaParser::PER, "per"},
      {TeslaParser::ORDER, "order"},
      {TeslaParser::BY, "by"},
      {TeslaParser::LIMIT, "limit"},
      {TeslaParser::EXECUTE, "execute"},
      {TeslaParser::TABLE, "table"},
      {TeslaParser::KEY, "key"},
      {TeslaParser::OF, "of"},
      {TeslaParser::EVERY, "every"}};
  std::vector<std::string> expected;
  for (const auto& [token, word] : kKeywords) {
    if (error.expects(token)) expected.emplace_back(word);
  }
  std::string hint = did_you_mean(error.offending->getText(), expected);
  const std::size_t index = error.offending->getTokenIndex();
  if (!hint.empty() || index == 0 || !error.inside(TeslaParser::RuleClause)) return hint;
  return did_you_mean(item.tokens[index - 1]->getText(), {"each", "first", "last", "not"});
}

bool is_keyword(std::size_t type) { return type >= TeslaParser::AND && type <= TeslaParser::AS; }

/// The hint for a token that can only stand behind a bracket that is still open.
std::string bracket_hint(const SyntaxError& error, const ItemTokens& item,
                         const Reporter& reporter) {
  if (!error.expects(TeslaParser::RPAREN)) return {};
  const std::size_t type = error.offending->getType();
  const std::size_t index = error.offending->getTokenIndex();
  const std::size_t before = index == 0 ? Token::EOF : item.tokens[index - 1]->getType();
  const bool selects = before >= TeslaParser::EACH && before <= TeslaParser::LAST;
  if (type != Token::EOF && !is_keyword(type) && !selects) return {};
  const Token* open = open_bracket(item, index);
  if (open == nullptr) return {};
  return "the bracket opened at " + place(locate(*open, item, reporter)) + " is not closed";
}

/// What to do about an ordinary unexpected token.
std::string hint_for(const SyntaxError& error, const ItemTokens& item, const Reporter& reporter) {
  const Token& token = *error.offending;
  const std::size_t type = token.getType();
  const std::size_t index = token.getTokenIndex();
  std::string hint = hint_for_foreign(error, item);
  if (!hint.empty()) return hint;
  hint = bracket_hint(error, item, reporter);
  if (!hint.empty()) return hint;
  if (error.expected.size() == 2 && error.expects(TeslaParser::LPAREN) &&
      error.expects(TeslaParser::OR) && index > 0 && error.inside(TeslaParser::RulePredicate)) {
    return "a type is followed by brackets, even without conditions: " +
           in_quotes(item.tokens[index - 1]->getText() + "()");
  }
  if (type == TeslaParser::OR && error.inside(TeslaParser::RuleClause)) {
    return "put a filter with `or` into brackets";
  }
  const bool behind_attribute =
      error.inside(TeslaParser::RuleAssignment) && index > 1 && error.expects(TeslaParser::BECOMES);
  if (behind_attribute && item.tokens[index - 2]->getType() == TeslaParser::AND) {
    return "`and` begins the next attribute here; put a condition of several parts into brackets";
  }
  if (is_keyword(type) && error.expects(TeslaParser::ID) && error.expects(TeslaParser::EVENT)) {
    return in_quotes(token.getText()) + " is a keyword and cannot be a name here";
  }
  if (type == TeslaParser::ID) hint = keyword_hint(error, item);
  const bool is_name = error.expects(TeslaParser::ID);  // which most keywords may be
  const bool behind_time = error.expects(TeslaParser::FROM) && error.expects(TeslaParser::AFTER);
  const bool at_window = error.expects(TeslaParser::WITHIN) && type == TeslaParser::IN;
  if (!hint.empty() || !(at_window || (behind_time && !is_name))) return hint;
  return "a window is counted from a state: `within 5 min from Smoke`";
}

}  // namespace

bool SyntaxError::inside(std::size_t rule) const {
  for (const auto* at = context; at != nullptr;
       at = dynamic_cast<const antlr4::RuleContext*>(at->parent)) {
    if (at->getRuleIndex() == rule) return true;
  }
  return false;
}

void StopAtFirstError::sync(antlr4::Parser* parser) {
  const std::size_t index = parser->getTokenStream()->index();
  if (seen_ != index) {
    seen_ = index;
    state_ = parser->getState();
    context_ = parser->getContext();
  }
  const auto& atn = parser->getATN();
  const auto& next = atn.nextTokens(atn.states[parser->getState()]);
  const std::size_t type = parser->getTokenStream()->LA(1);
  if (!next.contains(Token::EPSILON) && !next.contains(type)) fail(*parser, nullptr);
}

void StopAtFirstError::reportError(antlr4::Parser* parser,
                                   const antlr4::RecognitionException& error) {
  fail(*parser, error.getOffendingToken());
}

void StopAtFirstError::fail(antlr4::Parser& parser, Token* offending) {
  if (offending == nullptr) offending = parser.getCurrentToken();
  const bool here = seen_ == offending->getTokenIndex();
  SyntaxError error{.offending = offending, .context = here ? context_ : parser.getContext()};
  if (here) {
    error.expected = parser.getATN().getExpectedTokens(state_, context_);
  } else if (offending == parser.getCurrentToken()) {
    error.expected = parser.getExpectedTokens();
  } else {
    // Only `clause` looks further than one token: behind a selection it wants a type.
    error.expected = antlr4::misc::IntervalSet::of(TeslaParser::ID);
    error.expected.add(TeslaParser::EVENT);
  }
  throw error;
}

std::string describe(const Token& token) {
  if (token.getType() == Token::EOF) {
    return length_of(token) == 1 ? "`;`" : "end of the text";
  }
  std::string text = token.getText();
  if (const auto byte = static_cast<unsigned char>(text[0]); byte < 0x20 || byte == 0x7F) {
    std::array<char, 16> name;
    std::snprintf(name.data(), name.size(), "byte 0x%02X", byte);
    return name.data();
  }
  return in_quotes(text);
}

bool begins_item(const ItemTokens& item, std::size_t index) {
  const Token& token = *item.tokens[index];
  if (index > 0 && item.tokens[index - 1]->getLine() == token.getLine()) return false;
  const auto follows = [&](std::size_t ahead, std::size_t type) {
    return index + ahead < item.size() && item.tokens[index + ahead]->getType() == type;
  };
  switch (token.getType()) {
    case TeslaParser::DEFINE:
    case TeslaParser::EVENT:
    case TeslaParser::TABLE:
      return follows(2, TeslaParser::LPAREN);
    case TeslaParser::RULE:
      return follows(2, TeslaParser::COLON);
    case TeslaParser::INTERNAL:
      return follows(1, TeslaParser::EVENT);
    case TeslaParser::CONST:
      return follows(2, TeslaParser::EQUAL);
    case TeslaParser::ASSIGN:
      return follows(1, TeslaParser::INT);
    default:
      return token.getType() == TeslaParser::AT;
  }
}

Location locate(const Token& token, const ItemTokens& item, const Reporter& reporter) {
  if (token.getType() == Token::EOF && item.last && item.size() > 0) {
    return reporter.locate(item.tokens[item.size() - 1]->getStopIndex() + 1, 1);
  }
  return reporter.locate(token.getStartIndex(), length_of(token));
}

void report(const SyntaxError& error, const ItemTokens& item, Reporter& reporter) {
  const Token& token = *error.offending;
  const std::size_t index = token.getTokenIndex();
  if (const auto message = illegal_token(token)) {
    return reporter.error(
        locate(token, item, reporter), message->text,
        joins_strings(token, item) ? "strings are joined by `concat(a, b)`" : message->hint);
  }
  if (index > 0 && error.expects(Token::EOF) && begins_item(item, index)) {
    const std::size_t behind = item.tokens[index - 1]->getStopIndex() + 1;
    return reporter.error(reporter.locate(behind, 1), "expected `;`",
                          "a `;` separates rules and declarations");
  }
  const Token* const type = called_type(error);
  if (type != nullptr) {
    return reporter.error(
        locate(*type, item, reporter),
        "expected `each`, `first`, `last` or `not` before " + in_quotes(type->getText()),
        "a selection says which event of the window is taken; a row is `table C(...)`");
  }
  reporter.error(locate(token, item, reporter),
                 "unexpected " + describe(token) + ", expected " + expected_words(error),
                 hint_for(error, item, reporter));
}

}  // namespace gorgo::language
