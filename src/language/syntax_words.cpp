#include <initializer_list>

#include "language/syntax_error.hpp"

/// What a parser expected, in words.
namespace gorgo::language {
namespace {

using grammar::TeslaParser;
using Tokens = std::initializer_list<std::size_t>;

constexpr Tokens kWords = {
    TeslaParser::ID,      TeslaParser::EVENT,    TeslaParser::RULE,  TeslaParser::ASSIGN,
    TeslaParser::EACH,    TeslaParser::FIRST,    TeslaParser::LAST,  TeslaParser::CONTAINS,
    TeslaParser::DEFINE,  TeslaParser::FROM,     TeslaParser::WHERE, TeslaParser::CONSUMING,
    TeslaParser::WITHIN,  TeslaParser::BETWEEN,  TeslaParser::AFTER, TeslaParser::AS,
    TeslaParser::LIKE,    TeslaParser::MATCHES,  TeslaParser::IN,    TeslaParser::INCLUSIVE,
    TeslaParser::CONST,   TeslaParser::INTERNAL, TeslaParser::PER,   TeslaParser::ORDER,
    TeslaParser::BY,      TeslaParser::LIMIT,    TeslaParser::ASC,   TeslaParser::DESC,
    TeslaParser::EXECUTE, TeslaParser::TABLE,    TeslaParser::KEY,   TeslaParser::OF,
    TeslaParser::EVERY};
/// What a constant may be called, where it is a window.
constexpr Tokens kConstants = {TeslaParser::ID,    TeslaParser::PER, TeslaParser::ORDER,
                               TeslaParser::BY,    TeslaParser::ASC, TeslaParser::DESC,
                               TeslaParser::LIMIT, TeslaParser::INT, TeslaParser::EXECUTE,
                               TeslaParser::TABLE, TeslaParser::KEY, TeslaParser::EVERY};
constexpr Tokens kValueStarts = {TeslaParser::INT,       TeslaParser::FLOAT,  TeslaParser::STRING,
                                 TeslaParser::TRUE,      TeslaParser::FALSE,  TeslaParser::MINUS,
                                 TeslaParser::PARAMETER, TeslaParser::LPAREN, TeslaParser::NOT,
                                 TeslaParser::LBRACKET};
constexpr Tokens kOperators = {
    TeslaParser::PLUS,     TeslaParser::MINUS,         TeslaParser::STAR,
    TeslaParser::SLASH,    TeslaParser::EQUAL,         TeslaParser::NOT_EQUAL,
    TeslaParser::LESS,     TeslaParser::LESS_EQUAL,    TeslaParser::GREATER,
    TeslaParser::CONTAINS, TeslaParser::GREATER_EQUAL, TeslaParser::ARROW,
    TeslaParser::LIKE,     TeslaParser::MATCHES,       TeslaParser::IN,
    TeslaParser::DOT,      TeslaParser::LPAREN,        TeslaParser::ID,
    TeslaParser::OR};
constexpr Tokens kItemStarts = {TeslaParser::DEFINE,   TeslaParser::EVENT, TeslaParser::RULE,
                                TeslaParser::ASSIGN,   TeslaParser::AT,    TeslaParser::CONST,
                                TeslaParser::INTERNAL, TeslaParser::TABLE};

/// The expected tokens. Groups of them are taken out as they are put into words.
class Expected {
 public:
  explicit Expected(const antlr4::misc::IntervalSet& set) : set_(set) {}

  bool has(std::size_t token) const { return set_.contains(token); }
  void remove(Tokens tokens) {
    for (const auto token : tokens) set_.remove(token);
  }
  std::vector<ssize_t> rest() const { return set_.toList(); }

 private:
  antlr4::misc::IntervalSet set_;
};

/// What kind of name is wanted by the rule around a name rule, in words.
std::string name_words(const antlr4::RuleContext* context) {
  while (context != nullptr && (context->getRuleIndex() == TeslaParser::RuleTypeName ||
                                context->getRuleIndex() == TeslaParser::RuleAttributeName)) {
    context = dynamic_cast<const antlr4::RuleContext*>(context->parent);
  }
  if (context == nullptr) return "a name";
  switch (context->getRuleIndex()) {
    case TeslaParser::RuleValueType:
    case TeslaParser::RuleStatedType:
      return "a value type (int, float, bool or string)";
    case TeslaParser::RuleRuleName:
      return "a name for the rule";
    case TeslaParser::RuleExecuteClause:
    case TeslaParser::RuleAction:
      return "an action such as `webhook(\"ops\")`";
    case TeslaParser::RuleAlias:
      return "a name for the state";
    case TeslaParser::RuleSpan:
    case TeslaParser::RuleConsumingClause:
      return "the name of a state";
    case TeslaParser::RuleMember:
    case TeslaParser::RuleAssignment:
    case TeslaParser::RuleWhereClause:
    case TeslaParser::RuleAttributeDeclaration:
    case TeslaParser::RuleAttributeDeclarations:
    case TeslaParser::RulePer:
    case TeslaParser::RuleOrderClause:
    case TeslaParser::RuleOrderKey:
      return "an attribute name";
    case TeslaParser::RulePredicate:
    case TeslaParser::RuleTerminator:
    case TeslaParser::RuleClause:
    case TeslaParser::RuleSelection:
    case TeslaParser::RuleEventDeclaration:
    case TeslaParser::RuleRuleDefinition:
    case TeslaParser::RuleTypeNumber:
    case TeslaParser::RuleSubscription:
      return "an event type";
    default:
      return "a name";
  }
}

std::string token_words(std::size_t token) {
  static const antlr4::dfa::Vocabulary& vocabulary = TeslaParser(nullptr).getVocabulary();
  if (auto literal = vocabulary.getLiteralName(token); !literal.empty()) {
    return "`" + literal.substr(1, literal.size() - 2) + "`";
  }
  switch (token) {
    case TeslaParser::INT:
      return "an integer";
    case TeslaParser::FLOAT:
      return "a number";
    case TeslaParser::STRING:
      return "a string";
    case TeslaParser::PARAMETER:
      return "a parameter";
    default: {
      std::string keyword = vocabulary.getSymbolicName(token);
      for (char& c : keyword) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
      return "`" + keyword + "`";
    }
  }
}

/// Takes the groups out of `expected` and names them.
std::vector<std::string> take_groups(Expected& expected, const antlr4::RuleContext* context) {
  std::vector<std::string> words;
  // What is possible there and seldom meant.
  if (expected.has(TeslaParser::FROM)) expected.remove({TeslaParser::INCLUSIVE});
  if (expected.has(TeslaParser::LPAREN) && expected.has(TeslaParser::OR)) {
    expected.remove({TeslaParser::OR});
  }
  if (expected.has(TeslaParser::WITHIN)) expected.remove({TeslaParser::PER});
  if (expected.has(TeslaParser::CONSUMING)) {
    expected.remove({TeslaParser::ORDER, TeslaParser::LIMIT, TeslaParser::EXECUTE});
  }
  if (context->getRuleIndex() == TeslaParser::RuleSubscription) {
    expected.remove({TeslaParser::EXECUTE});
  }
  if (expected.has(TeslaParser::DEFINE) && expected.has(TeslaParser::EVENT) &&
      !expected.has(TeslaParser::ID)) {
    words.push_back("a rule (`define ...`) or a declaration (`event ...`)");
    expected.remove(kItemStarts);
  } else if (expected.has(TeslaParser::STRING) && expected.has(TeslaParser::PARAMETER)) {
    if (context->getRuleIndex() == TeslaParser::RuleClause) {
      words.push_back("a state (`each`, `first` or `last`), a negation (`not`)");
    }
    words.push_back(expected.has(TeslaParser::LBRACKET) ? "a condition" : "a value");
    expected.remove(kValueStarts);
    expected.remove(kWords);
  } else if (expected.has(TeslaParser::SLASH)) {
    // Behind a value nearly every operator can follow; only what ends the value is worth a word.
    words.push_back("an operator");
    expected.remove(kOperators);
    if (expected.has(TeslaParser::COMMA)) expected.remove({TeslaParser::AND});
  } else if (expected.has(TeslaParser::ID) && expected.has(TeslaParser::EVENT)) {
    words.push_back(name_words(context));
    expected.remove(kWords);
  } else if (expected.has(TeslaParser::ID) && expected.has(TeslaParser::INT)) {
    const bool counts = context->getRuleIndex() == TeslaParser::RuleTerminator;
    words.push_back(counts ? "a number of events" : "a time such as `5 min`");
    expected.remove(kConstants);
    if (counts) expected.remove({TeslaParser::LPAREN, TeslaParser::OR});
  } else if (expected.has(TeslaParser::ID)) {
    const bool behind_of = context != nullptr && !expected.has(TeslaParser::OF) &&
                           context->getRuleIndex() == TeslaParser::RuleExtent;
    words.push_back(behind_of ? "`all events`" : "a time unit");
    expected.remove({TeslaParser::ID});
  }
  return words;
}

}  // namespace

std::string expected_words(const SyntaxError& error) {
  Expected expected(error.expected);
  auto words = take_groups(expected, error.context);
  const auto rest = expected.rest();
  for (const ssize_t entry : rest) {
    const auto token = static_cast<std::size_t>(entry);
    const char* end = error.inside(TeslaParser::RuleSubscription) ? "the end" : "`;`";
    words.push_back(token == antlr4::Token::EOF ? end : token_words(token));
  }
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) text += i + 1 == words.size() ? " or " : ", ";
    text += words[i];
  }
  return text;
}

}  // namespace gorgo::language
