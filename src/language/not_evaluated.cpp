#include <algorithm>

#include "language/language.hpp"

namespace gorgo::language {

std::vector<std::string> not_evaluated(const Rule& rule) {
  std::vector<std::string> list;
  const auto selects = [&](Selection selection) {
    return std::any_of(rule.states.begin() + 1, rule.states.end(),
                       [&](const State& state) { return state.selection == selection; });
  };
  if (selects(Selection::k_first)) list.push_back("the selection `k-first`");
  if (selects(Selection::k_last)) list.push_back("the selection `k-last`");
  const bool deadline =
      std::any_of(rule.negations.begin(), rule.negations.end(),
                  [](const Negation& negation) { return negation.span.kind == SpanKind::after; });
  if (deadline) list.push_back("a deadline (`not ... within ... after`)");
  if (rule.timer) list.push_back("a timer (`Timer(...)`)");
  return list;
}

}  // namespace gorgo::language
