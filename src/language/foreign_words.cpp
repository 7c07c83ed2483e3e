#include "language/foreign_words.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

namespace gorgo::language {
namespace {

using grammar::TeslaParser;

constexpr char kSequence[] =
    "a rule looks back from its last event: for B behind A write "
    "`from B() and last A() within 5 min from B`";

std::string lower_case(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

/// The word at this index in lower case; empty: there is none.
std::string word_at(const ItemTokens& item, std::size_t index) {
  return index < item.size() ? lower_case(item.tokens[index]->getText()) : std::string();
}

struct UnitWord {
  std::string_view word, hint;
};
constexpr std::array<UnitWord, 5> kUnits = {{{"m", "minutes are written `min`"},
                                             {"hr", "hours are written `h`"},
                                             {"w", "a week is `7 d`"},
                                             {"week", "a week is `7 d`"},
                                             {"weeks", "a week is `7 d`"}}};

}  // namespace

std::string hint_for_unit(std::string_view word) {
  const std::string lower = lower_case(std::string(word));
  const auto* known = std::ranges::find(kUnits, std::string_view(lower), &UnitWord::word);
  return known == kUnits.end() ? "" : std::string(known->hint);
}

std::string hint_for_foreign(const SyntaxError& error, const ItemTokens& item) {
  const std::size_t index = error.offending->getTokenIndex();
  const std::string word = word_at(item, index), next = word_at(item, index + 1);
  if (word == "is" && (next == "null" || next == "not")) {
    return "there is no `null`; write `not exists(x)` or `exists(x)`";
  }
  if (word == "null") return "there is no `null`";
  if (word == "followed" && next == "by") return kSequence;
  if (word == "-" && next == ">") return kSequence;
  if (word == ">" && index > 0 && word_at(item, index - 1) == "-") return kSequence;
  if (index > 0 && word_at(item, index - 1) == "exists") {
    return "an absence is written `not Smoke() within 5 min from Fire`";
  }
  if (error.offending->getType() == TeslaParser::FLOAT && error.expects(TeslaParser::INT)) {
    return "a time is a whole number of a unit: `90 min`, not `1.5 h`";
  }
  return {};
}

}  // namespace gorgo::language
