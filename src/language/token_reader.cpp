#include "language/token_reader.hpp"
#include "language/foreign_words.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "language/joint_types.hpp"
#include "language/literal.hpp"
#include "language/server_types.hpp"

namespace gorgo::language {

Location TokenReader::locate(const antlr4::Token* token) const {
  return reporter_.locate(token->getStartIndex(),
                          token->getStopIndex() + 1 - token->getStartIndex());
}

ast::Name TokenReader::name(antlr4::ParserRuleContext* word) const {
  return {word->start->getText(), locate(word->start)};
}

ast::Action TokenReader::action(Parser::ActionContext* action) {
  auto* const literal = action->STRING()->getSymbol();
  return {name(action->typeName()), {text(literal), locate(literal)}};
}

ast::Name TokenReader::read_type(antlr4::ParserRuleContext* word) {
  ast::Name type = name(word);
  if (!is_server_name(type.text) || server_type(type.text) != nullptr) return type;
  std::vector<std::string> names;
  for (const EventType& known : server_types()) names.push_back(known.name);
  reporter_.error(type.at, "the server publishes no events of type " + in_quotes(type.text),
                  reporter_.suggest(type.text, names, "it publishes " + listing(names, "and")));
  return type;
}

void TokenReader::add_type(ast::Name type, ast::Predicate& predicate) {
  const auto twin = std::ranges::find(predicate.any_of, type.text, &ast::Name::text);
  if (twin == predicate.any_of.end()) return predicate.any_of.push_back(std::move(type));
  reporter_.error(type.at, "type " + in_quotes(type.text) + " stands here twice",
                  "a state takes each event once; leave one out");
}

void TokenReader::join_types(ast::Predicate& predicate) {
  std::vector<std::string> names;
  for (const ast::Name& type : predicate.any_of) names.push_back(type.text);
  predicate.type.text = joint_name(std::move(names));
}

ValueType TokenReader::value_type(Parser::ValueTypeContext* context) {
  const std::string word = context->getText();
  if (const auto type = language::value_type(word)) return *type;
  const std::string meant = hint_for_value_type(word);
  reporter_.error(locate(context->start), "unknown value type " + in_quotes(word),
                  !meant.empty()
                      ? meant
                      : reporter_.suggest(word, value_type_names(),
                                          "the value types are int, float, bool and string"));
  return ValueType::integer;
}

std::int64_t TokenReader::integer(antlr4::Token* digits, bool negative) {
  const auto value = parse_integer(digits->getText(), negative);
  if (!value) {
    reporter_.error(locate(digits), "the integer is out of range",
                    "the range is -9223372036854775808 to 9223372036854775807");
  }
  return value.value_or(0);
}

double TokenReader::floating(antlr4::Token* digits, bool negative) {
  const auto value = parse_float(digits->getText());
  if (!value) reporter_.error(locate(digits), "the number is too large for a float");
  return negative ? -value.value_or(0) : value.value_or(0);
}

std::string TokenReader::text(antlr4::Token* literal) {
  Unquoted unquoted = unquote(literal->getText());
  if (!unquoted.problem.empty()) {
    reporter_.error(reporter_.locate(literal->getStartIndex() + unquoted.problem_at, 1),
                    unquoted.problem,
                    unquoted.problem_at == 0
                        ? ""
                        : "the escapes are \\n \\r \\t \\b \\f \\0 \\\\ \\\" \\' \\/ and \\uXXXX");
  }
  return std::move(unquoted.text);
}

Duration TokenReader::duration(antlr4::Token* digits, Parser::UnitContext* unit_word,
                               bool negative) {
  const std::int64_t count = integer(digits, negative);
  Duration nanoseconds = 0;
  if (__builtin_mul_overflow(count, unit(unit_word), &nanoseconds)) {
    reporter_.error(locate(digits), "the duration is out of range",
                    "in nanoseconds it must fit an int: 292 years at most");
  }
  return nanoseconds;
}

Duration TokenReader::unit(Parser::UnitContext* unit) {
  const std::string word = unit->ID()->getText();
  const auto length = unit_length(word);
  if (length) return *length;
  const std::string meant = hint_for_unit(word);
  reporter_.error(locate(unit->start), "unknown time unit " + in_quotes(word),
                  !meant.empty() ? meant
                                 : reporter_.suggest(word, unit_names(),
                                                     "the units are ns, us, ms, s, min, h and d"));
  return 1;
}

}  // namespace gorgo::language
