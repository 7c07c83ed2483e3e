#include <algorithm>

#include "language/language.hpp"

namespace gorgo::language {

std::vector<std::string> not_evaluated(const Rule& rule) {
  std::vector<std::string> list;
  const bool deadline =
      std::any_of(rule.negations.begin(), rule.negations.end(),
                  [](const Negation& negation) { return negation.span.kind == SpanKind::after; });
  if (deadline) list.push_back("a deadline (`not ... within ... after`)");
  if (rule.timer) list.push_back("a timer (`Timer(...)`)");
  return list;
}

}  // namespace gorgo::language
