#include "language/pieces.hpp"

#include <cctype>
#include <string>
#include <unordered_map>
#include <utility>

#include "functions/catalogue.hpp"
#include "language/call_shape.hpp"
#include "language/literal.hpp"
#include "language/rule_text.hpp"

namespace gorgo::language {
namespace {

using Parser = grammar::TeslaParser;
using Glue = Piece::Glue;
using antlr4::ParserRuleContext;
using antlr4::Token;

/// Where a clause goes on when it is broken outside brackets.
constexpr std::size_t kClauseContinuation = kContentColumn + 4;

/// Breaks within the same brackets, the best first.
enum BreakKind : int { kSpan, kComma, kOr, kAnd, kBreakKinds };

std::size_t end_of(const Token& token) { return token.getStopIndex() + 1; }

/// The words of an item in text order.
void collect(antlr4::tree::ParseTree* tree, std::vector<Token*>& tokens) {
  if (auto* leaf = dynamic_cast<antlr4::tree::TerminalNode*>(tree); leaf != nullptr) {
    if (leaf->getSymbol()->getType() != Token::EOF) tokens.push_back(leaf->getSymbol());
    return;
  }
  for (auto* child : tree->children) collect(child, tokens);
}

bool is_name(std::size_t rule) {
  return rule == Parser::RuleTypeName || rule == Parser::RuleAttributeName ||
         rule == Parser::RuleConstantName;
}

bool is_language_word(std::size_t token) { return token >= Parser::AND && token <= Parser::CONST; }

/// The literal in double quotes, unless that takes escapes.
std::string string_literal(const std::string& text) {
  const std::string content = text.substr(1, text.size() - 2);
  return content.find_first_of("\"\\") == content.npos ? "\"" + content + "\"" : text;
}

std::string unit_text(const std::string& word) {
  const auto length = unit_length(word);
  if (length) return duration_text(*length).substr(2);
  const std::string lower = lower_case(word);
  return lower == "events" ? lower : word;
}

/// A window without a unit, which is in milliseconds.
std::string bare_window(const std::string& digits) {
  constexpr Duration kMillisecond = 1'000'000;
  const auto count = parse_integer(digits, false);
  Duration width = 0;
  const bool exact = count && *count > 0 && !__builtin_mul_overflow(*count, kMillisecond, &width);
  return exact ? duration_text(width) : digits + " ms";
}

std::string aggregate_name(const std::string& word) {
  const auto function = aggregate_function(word);
  return function ? std::string(spelling(*function)) : word;
}

std::string type_word(const std::string& word) {
  const auto type = value_type(word);
  return type ? std::string(to_string(*type)) : word;
}

class PieceWriter {
 public:
  explicit PieceWriter(std::string_view text) : text_(text) {}

  std::vector<Piece> write(Parser::ItemContext* item) {
    attach_comments(item);
    walk(item);
    return std::move(pieces_);
  }

 private:
  struct Comments {
    std::vector<Comment> before, after;
  };

  /// A comment on the line of a token stays behind it, one on a line of its own before the next.
  /// A comma goes before the comment on its line.
  void attach_comments(Parser::ItemContext* item) {
    std::vector<Token*> tokens;
    collect(item, tokens);
    for (std::size_t i = 1; i < tokens.size(); ++i) {
      const std::size_t begin = end_of(*tokens[i - 1]);
      Gap gap = read_gap(text_.substr(begin, tokens[i]->getStartIndex() - begin));
      bool behind = true;
      for (auto& comment : gap.comments) {
        behind = behind && !comment.own_line();
        Token* owner = tokens[i]->getType() == Parser::COMMA ? tokens[i] : tokens[i - 1];
        auto& list = behind ? comments_[owner].after : comments_[tokens[i]].before;
        list.push_back(std::move(comment));
      }
    }
  }

  void walk(ParserRuleContext* context) {
    if (special(context)) return;
    // A bracket opens a chain of rules with one child each: only the brackets may take stack.
    while (auto* child = only_child(context)) {
      context = child;
      if (special(context)) return;
    }
    for (auto* child : context->children) {
      if (auto* leaf = dynamic_cast<antlr4::tree::TerminalNode*>(child); leaf != nullptr) {
        terminal(leaf->getSymbol(), context);
      } else {
        walk(dynamic_cast<ParserRuleContext*>(child));
      }
    }
  }

  static ParserRuleContext* only_child(ParserRuleContext* context) {
    const bool one = context->children.size() == 1;
    return one ? dynamic_cast<ParserRuleContext*>(context->children[0]) : nullptr;
  }

  /// Handles what is not written word by word.
  bool special(ParserRuleContext* context) {
    switch (context->getRuleIndex()) {
      case Parser::RulePrimary:
        return call(dynamic_cast<Parser::PrimaryContext*>(context));
      case Parser::RulePer:
      case Parser::RuleSpan:
        break_before_ = kSpan;
        return false;
      case Parser::RuleValueType:
        add(context->start, type_word(context->start->getText()));
        return true;
      case Parser::RuleWindow:
        window(dynamic_cast<Parser::WindowContext*>(context));
        return true;
      case Parser::RuleUnit:
        unit(dynamic_cast<Parser::UnitContext*>(context));
        return true;
      default:
        return false;
    }
  }

  void terminal(Token* token, ParserRuleContext* parent) {
    if (token->getType() == Token::EOF || begins_line(token, parent)) return;
    const std::size_t rule = parent->getRuleIndex();
    switch (token->getType()) {
      case Parser::LPAREN:
        if (rule != Parser::RulePrimary && !is_list(parent)) glue_ = Glue::tight;
        return bracket(token);
      case Parser::COMMA:
        return separator(token, rule);
      case Parser::COLON:
      case Parser::RBRACKET:
        glue_ = Glue::tight;
        add(token, token->getText());
        if (token->getType() == Parser::RBRACKET) glue_ = Glue::tight;
        return;
      case Parser::RPAREN:
        return bracket(token);
      case Parser::DOT:
      case Parser::MINUS:
        return sign(token, rule);
      case Parser::AND:
        if (rule == Parser::RuleWhereClause || rule == Parser::RuleConjunction)
          break_before_ = kAnd;
        break;
      case Parser::OR:
        break_before_ = kOr;
        break;
      default:
        break;
    }
    add(token, spelling(token, rule));
    if (token->getType() == Parser::LBRACKET) glue_ = Glue::tight;
  }

  /// Handles the words at the beginning of lines.
  bool begins_line(Token* token, ParserRuleContext* parent) {
    const std::size_t rule = parent->getRuleIndex(), type = token->getType();
    const auto line = [&](std::size_t indent, std::size_t continuation) {
      glue_ = Glue::line;
      add(token, spelling(token, rule));
      pieces_.back().indent = indent;
      pieces_.back().continuation = continuation;
      return true;
    };
    const auto section = [&](std::size_t continuation) {
      line(0, continuation);
      glue_ = Glue::content;
      return true;
    };
    switch (rule) {
      case Parser::RuleRuleDefinition:
        if (type == Parser::FROM) return section(kClauseContinuation);
        if (type == Parser::DEFINE) return section(kContentColumn);
        return type == Parser::AND && line(kContentColumn, kClauseContinuation);
      case Parser::RuleTypeNumbers:
        return type == Parser::ASSIGN && section(kContentColumn);
      case Parser::RuleWhereClause:
        return type == Parser::WHERE && section(kContentColumn);
      case Parser::RuleOrderClause:
        if (type == Parser::ORDER) return line(0, kContentColumn);
        if (type != Parser::BY) return false;
        add(token, spelling(token, rule));
        glue_ = Glue::content;
        return true;
      case Parser::RuleLimitClause:
        return type == Parser::LIMIT && section(kContentColumn);
      case Parser::RuleConsumingClause:
        return type == Parser::CONSUMING && section(kContentColumn);
      case Parser::RuleExecuteClause:
        return type == Parser::EXECUTE && section(kContentColumn);
      case Parser::RuleTableDeclaration:
      case Parser::RuleEventDeclaration:
        return token == parent->start && line(0, 4);
      case Parser::RuleConstant:
        return type == Parser::CONST && line(0, 4);
      case Parser::RuleRuleName:
        return type == Parser::RULE && line(0, 4);
      case Parser::RuleAnnotation:
        if (type != Parser::AT) return false;
        line(0, 4);
        glue_ = Glue::tight;
        return true;
      default:
        return false;
    }
  }

  std::string spelling(Token* token, std::size_t rule) const {
    const std::string text = token->getText();
    const std::size_t type = token->getType();
    if (rule == Parser::RuleAssignment && type == Parser::BECOMES) return "=";
    if (type == Parser::STRING) return string_literal(text);
    const bool letters = is_language_word(type) || type == Parser::FLOAT;
    return letters && !is_name(rule) ? lower_case(text) : text;
  }

  void bracket(Token* token) {
    const bool opens = token->getType() == Parser::LPAREN;
    if (!opens) glue_ = Glue::tight;
    add(token, token->getText());
    depth_ += opens ? 1 : -1;
    if (opens) glue_ = Glue::tight;
  }

  void separator(Token* token, std::size_t rule) {
    if (rule == Parser::RuleWhereClause) {
      break_before_ = kAnd;
      return add(token, "and");
    }
    glue_ = Glue::tight;
    add(token, ",");
    break_before_ = kComma;
  }

  void sign(Token* token, std::size_t rule) {
    const bool joins = rule == Parser::RuleSelection || rule == Parser::RuleWord ||
                       token->getType() == Parser::DOT;
    if (joins) glue_ = Glue::tight;
    add(token, token->getText());
    const bool unary = rule == Parser::RuleFactor || rule == Parser::RuleAnnotationLiteral;
    if (joins || unary) glue_ = Glue::tight;
  }

  void window(Parser::WindowContext* window) {
    extent(window->extent(0));
    if (window->IN() != nullptr) {
      add(window->IN()->getSymbol(), "in");
      extent(window->extent(1));
    }
    if (window->INCLUSIVE() != nullptr) add(window->INCLUSIVE()->getSymbol(), "inclusive");
  }

  void extent(Parser::ExtentContext* extent) {
    const bool bare =
        extent->INT() != nullptr && extent->unit() == nullptr && extent->OF() == nullptr;
    const std::string text = extent->start->getText();
    add(extent->start, bare ? bare_window(text) : text);
    if (extent->unit() != nullptr) unit(extent->unit());
    if (extent->OF() == nullptr) return;
    add(extent->OF()->getSymbol(), "of");
    for (auto* word : extent->ID()) add(word->getSymbol(), lower_case(word->getText()));
  }

  /// The dot behind a unit goes, its comments stay.
  void unit(Parser::UnitContext* unit) {
    add(unit->start, unit_text(unit->start->getText()));
    if (unit->DOT() == nullptr) return;
    auto& [before, after] = comments_[unit->DOT()->getSymbol()];
    auto& kept = pieces_.back().after;
    kept.insert(kept.end(), before.begin(), before.end());
    kept.insert(kept.end(), after.begin(), after.end());
  }

  /// Whether these are the brackets behind `in`.
  static bool is_list(ParserRuleContext* brackets) {
    const auto* around = dynamic_cast<ParserRuleContext*>(brackets->parent);
    return brackets->getRuleIndex() == Parser::RuleArguments &&
           around->getRuleIndex() == Parser::RuleComparison;
  }

  bool call(Parser::PrimaryContext* primary) {
    if (primary->attributeName() == nullptr || !is_call(primary)) return false;
    const auto shape = aggregate_shape(primary);
    const std::string name = primary->start->getText();
    if (!shape && functions::find(name) == nullptr) return false;
    add(primary->start, shape ? aggregate_name(name) : lower_case(name));
    if (shape) {
      aggregate(primary->member()->arguments(), *shape);
    } else {
      walk(primary->member());
    }
    return true;
  }

  /// `Avg(Temp(...).value within 5 min from Smoke)`, however it is written.
  void aggregate(Parser::ArgumentsContext* around, const AggregateShape& call) {
    const auto brackets = [&](Parser::ArgumentsContext* pair, const auto& content) {
      glue_ = Glue::tight;
      bracket(pair->LPAREN()->getSymbol());
      content();
      bracket(pair->RPAREN()->getSymbol());
    };
    brackets(around, [&] {
      for (std::size_t i = 0; i < call.types.size(); ++i) {
        if (i > 0) {
          break_before_ = kOr;
          add(call.ors[i - 1]->getSymbol(), "or");
        }
        walk(call.types[i]);
      }
      brackets(call.brackets, [&] {
        if (call.brackets->conditions() != nullptr) walk(call.brackets->conditions());
      });
      if (call.attribute != nullptr) {
        sign(call.dot->getSymbol(), Parser::RuleMember);
        walk(call.attribute);
      }
      for (auto* span : call.spans) walk(span);
      if (call.comma == nullptr) return;
      separator(call.comma->getSymbol(), Parser::RuleConditions);
      walk(call.percent);
    });
  }

  void add(Token* token, std::string text) {
    Piece piece{.text = std::move(text), .glue = std::exchange(glue_, Glue::space)};
    const int kind = std::exchange(break_before_, kBreakKinds);
    if (kind != kBreakKinds) piece.rank = depth_ * kBreakKinds + kind;
    if (const auto it = comments_.find(token); it != comments_.end()) {
      piece.before = std::move(it->second.before);
      piece.after = std::move(it->second.after);
    }
    pieces_.push_back(std::move(piece));
  }

  std::string_view text_;
  std::unordered_map<const Token*, Comments> comments_;
  std::vector<Piece> pieces_;
  Glue glue_ = Glue::space;         // of the next piece
  int break_before_ = kBreakKinds;  // the next piece
  int depth_ = 0;                   // of brackets
};

}  // namespace

std::vector<Piece> pieces_of(Parser::ItemContext* item, std::string_view text) {
  return PieceWriter(text).write(item);
}

Extent extent_of(Parser::ItemContext* item) {
  std::vector<Token*> tokens;
  collect(item, tokens);
  return {tokens.front()->getStartIndex(), end_of(*tokens.back())};
}

}  // namespace gorgo::language
