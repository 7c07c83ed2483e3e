#include "language/foreign_words.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "language/call_shape.hpp"
#include "language/literal.hpp"

namespace gorgo::language {
namespace {

using grammar::TeslaParser;

constexpr char kSequence[] =
    "a rule looks back from its last event: for B behind A write "
    "`from B() and last A() within 5 min from B`";

/// The word at this index in lower case; empty: there is none.
std::string word_at(const ItemTokens& item, std::size_t index) {
  return index < item.size() ? lower_case(item.tokens[index]->getText()) : std::string();
}

/// The word in front of the brackets that end before the index; empty: none end there.
std::string word_before_brackets(const ItemTokens& item, std::size_t index) {
  int depth = 0;
  for (std::size_t i = index; i-- > 1;) {
    const std::size_t type = item.tokens[i]->getType();
    if (type == TeslaParser::RPAREN) ++depth;
    if (type == TeslaParser::LPAREN && --depth == 0) return word_at(item, i - 1);
    if (depth == 0) return {};
  }
  return {};
}

/// The name of the annotation that the index lies in.
std::string annotation_before(const ItemTokens& item, std::size_t index) {
  while (index-- > 0) {
    if (item.tokens[index]->getType() == TeslaParser::AT) return word_at(item, index + 1);
  }
  return {};
}

/// Hints for what TESLA has, too, but with other signs or in another order.
std::string hint_for_form(const SyntaxError& error, const ItemTokens& item) {
  const std::size_t index = error.offending->getTokenIndex();
  const std::string word = word_at(item, index), next = word_at(item, index + 1);
  const std::string before = index > 0 ? word_at(item, index - 1) : std::string();
  if (before == "every" && word_at(item, index - 3) == "timer") {
    return "write `Timer(every = 5 min)`";
  }
  if (word == "or" && error.expects(TeslaParser::AS)) {
    return "an event of one of several types is `A or B(...)`; for one pattern or another "
           "write two rules";
  }
  if (word == "(" && before == "from") {
    return "an event of one of several types is `A or B(...)`";
  }
  if (word == "order" && next == "by") return "`order by` stands behind `where`, before `limit`";
  if (error.inside(TeslaParser::RuleAnnotation) && annotation_before(item, index) == "at_most") {
    return "write for example `@at_most(1, per = 10 min, by = area)`";
  }
  if (word == "," && error.expects(TeslaParser::AS)) return kSequence;
  if (word == "within" && error.expects(TeslaParser::AS)) {
    return "the terminator has no window; windows stand behind states: "
           "`and last Smoke() within 5 min from Fire`";
  }
  return {};
}

/// Whether the index is behind the first word in the brackets of an aggregate: `Count(Smoke
/// within`.
bool lacks_brackets(const ItemTokens& item, std::size_t index) {
  return index > 2 && item.tokens[index]->getType() == TeslaParser::WITHIN &&
         item.tokens[index - 1]->getType() == TeslaParser::ID &&
         item.tokens[index - 2]->getType() == TeslaParser::LPAREN &&
         aggregate_function(item.tokens[index - 3]->getText()).has_value();
}

/// Hints for forms of values that TESLA has, but writes in another way.
std::string hint_for_value(const SyntaxError& error, const ItemTokens& item) {
  const std::size_t index = error.offending->getTokenIndex(), type = error.offending->getType();
  const std::string next = word_at(item, index + 1);
  const std::string before = index > 0 ? word_at(item, index - 1) : std::string();
  const bool behind_value = error.expects(TeslaParser::SLASH);
  if (behind_value && type == TeslaParser::NOT) {
    return "`not` stands in front: `not (x " + next + (next == "in" ? " (...))`" : " ...)`");
  }
  const bool compares = (type >= TeslaParser::EQUAL && type <= TeslaParser::GREATER_EQUAL) ||
                        type == TeslaParser::CONTAINS || type == TeslaParser::LIKE ||
                        type == TeslaParser::MATCHES || type == TeslaParser::IN;
  if (behind_value && compares && error.inside(TeslaParser::RuleWhereClause)) {
    return "a condition that is a value stands in brackets: `hot = (Temp.value > 45)`";
  }
  if (type == TeslaParser::STAR && before == "(" && word_at(item, index - 2) == "count") {
    return "write `Count(Type() within ... from ...)`";
  }
  if (before == "distinct") return "write `CountDistinct(Type().attribute within ... from ...)`";
  if (lacks_brackets(item, index)) {
    return "a type is followed by brackets, even without conditions: `" +
           item.tokens[index - 1]->getText() + "()`";
  }
  const bool declares = error.expects(TeslaParser::COLON) && type == TeslaParser::ID;
  if (declares && error.inside(TeslaParser::RuleAttributeDeclaration)) {
    return "write `" + item.tokens[index - 1]->getText() + ": " + error.offending->getText() + "`";
  }
  return {};
}

struct ForeignWord {
  std::string_view word, hint;
};
constexpr ForeignWord kUnits[] = {{"m", "minutes are written `min`"},
                                  {"hr", "hours are written `h`"},
                                  {"w", "a week is `7 d`"},
                                  {"week", "a week is `7 d`"},
                                  {"weeks", "a week is `7 d`"}};

constexpr ForeignWord kValueTypes[] = {
    {"integer", "write `int`"},
    {"long", "write `int`"},
    {"bigint", "write `int`"},
    {"int64", "write `int`"},
    {"real", "write `float`"},
    {"number", "write `float`"},
    {"decimal", "write `float`"},
    {"boolean", "write `bool`"},
    {"text", "write `string`"},
    {"varchar", "write `string`"},
    {"char", "write `string`"},
    {"str", "write `string`"},
    {"date", "write `int`, for nanoseconds since 1970"},
    {"datetime", "write `int`, for nanoseconds since 1970"},
    {"timestamp", "write `int`, for nanoseconds since 1970; each event has its time, besides"}};

constexpr ForeignWord kNames[] = {
    {"null", "there is no `null`; write `not exists(x)` or `exists(x)`"}};

constexpr char kTimeOfRule[] =
    "the time of a rule is that of its terminator, the state behind `from`: write the name of that "
    "state with `.timestamp`";

constexpr ForeignWord kFunctions[] = {
    {"average", "the mean of events is `Avg(...)`, that of two values `(a + b) / 2`"},
    {"mean", "the mean of events is `Avg(...)`, that of two values `(a + b) / 2`"},
    {"stdev", "the deviation of a sample is `StdDev(...)`"},
    {"stddev_samp", "write `StdDev(...)`"},
    {"stddev_pop", "write `StdDevPop(...)`"},
    {"var", "write `Variance(...)`"},
    {"var_samp", "write `Variance(...)`"},
    {"var_pop", "write `VariancePop(...)`"},
    {"ifnull", "write `coalesce(x, 0)`"},
    {"nvl", "write `coalesce(x, 0)`"},
    {"isnull", "write `not exists(x)`, or `coalesce(x, 0)` for a default"},
    {"default", "write `coalesce(x, 0)`"},
    {"power", "write `pow(x, y)`"},
    {"ceiling", "write `ceil(x)`"},
    {"log", "the natural logarithm is `ln(x)`, that to base 10 `log10(x)`"},
    {"greatest", "write `max(a, b)`"},
    {"least", "write `min(a, b)`"},
    {"len", "write `length(s)`"},
    {"char_length", "write `length(s)`"},
    {"lcase", "write `lower(s)`"},
    {"ucase", "write `upper(s)`"},
    {"substr", "write `substring(s, first, count)`"},
    {"regexp_like", "write `s matches \"pattern\"`"},
    {"regex", "write `s matches \"pattern\"`"},
    {"now", kTimeOfRule},
    {"current_timestamp", kTimeOfRule},
    {"timestamp", "an instant is `time(\"2026-03-29T01:00:00Z\")`"},
    {"date_trunc", "write `truncate(time, 1 h, \"Europe/Rome\")`"},
    {"dayofweek", "write `weekday(time)`"},
};

template <std::size_t N>
std::string hint_among(const ForeignWord (&words)[N], std::string_view word) {
  const std::string lower = lower_case(std::string(word));
  const auto* known = std::ranges::find(words, std::string_view(lower), &ForeignWord::word);
  return known == std::end(words) ? "" : std::string(known->hint);
}

}  // namespace

std::string hint_for_unit(std::string_view word) { return hint_among(kUnits, word); }

std::string hint_for_value_type(std::string_view word) { return hint_among(kValueTypes, word); }

std::string hint_for_name(std::string_view word) { return hint_among(kNames, word); }

std::string hint_for_function(std::string_view word) { return hint_among(kFunctions, word); }

namespace {

/// Hints for words that TESLA does not have.
std::string hint_for_word(const SyntaxError& error, const ItemTokens& item) {
  const std::size_t index = error.offending->getTokenIndex();
  const std::string word = word_at(item, index), next = word_at(item, index + 1);
  if (word == "is" && (next == "null" || next == "not")) {
    return "there is no `null`; write `not exists(x)` or `exists(x)`";
  }
  if (word == "null") return "there is no `null`";
  if ((word == "followed" && next == "by") || word == "then") return kSequence;
  if (word == "after" && !error.expects(TeslaParser::AFTER)) return kSequence;
  if (word == "regexp" || word == "rlike" || word == "regex") {
    return "write `s matches \"pattern\"`";
  }
  if (word == "ilike") return "write `lower(x) like \"a%\"`";
  const bool range = word == "between" && !error.expects(TeslaParser::BETWEEN);
  if (range) return "for values from 1 to 2 write `x >= 1 and x <= 2`";
  if (word == "event" && error.expects(TeslaParser::FROM)) return "write `events`, also for one";
  if (word == "when" || word == "case") return "write `if(condition, a, b)`";
  if (word == "select" || word == "insert" || word == "pattern") {
    return "a rule begins with what it makes: `define Fire(area: string) from Smoke() ...`";
  }
  if (word == "having") return "write a filter: `and $n = Count(...)` and then `and $n > 3`";
  if (word == "group" && next == "by") {
    return "for a composite of each key write `last Temp(area = $a) per area within 1 h from "
           "Timer`";
  }
  if (word == "-" && next == ">") return kSequence;
  if (word == ">" && index > 0 && word_at(item, index - 1) == "-") return kSequence;
  const std::string before = index > 0 ? word_at(item, index - 1) : std::string();
  const bool state_of_exists =
      error.expects(TeslaParser::WITHIN) && word_before_brackets(item, index) == "exists";
  if (before == "exists" || before == "without" || state_of_exists) {
    return "an absence is written `not Smoke() within 5 min from Fire`";
  }
  const bool in_clause = index > 1 && word_at(item, index - 2) == "and";
  if (in_clause && (before == "any" || before == "all" || before == "some" || before == "every")) {
    return "`each` takes every event of the window, `last` or `first` takes one";
  }
  if (word == "(" && word_at(item, index - 2) == "every" && word_at(item, index - 3) == "from") {
    return "each event of the type is a terminator: write `from Temp()`; each hundredth is `from "
           "every 100 Temp()`";
  }
  if (word_at(item, index - 3) == "every" && unit_length(before)) {
    return "what comes each time has a timer: write `from Timer(every = 5 min)`";
  }
  if (error.offending->getType() == TeslaParser::FLOAT && error.expects(TeslaParser::INT)) {
    return "a time is a whole number of a unit: `90 min`, not `1.5 h`";
  }
  return {};
}

}  // namespace

std::string hint_for_foreign(const SyntaxError& error, const ItemTokens& item) {
  std::string hint = hint_for_word(error, item);
  if (hint.empty()) hint = hint_for_value(error, item);
  return hint.empty() ? hint_for_form(error, item) : hint;
}

}  // namespace gorgo::language
