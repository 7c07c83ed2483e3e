#include "actions/matcher.hpp"

#include <algorithm>

#include "actions/target.hpp"

namespace gorgo::actions {

Result<void> check(const Matchers& matchers) {
  for (const std::string& matcher : matchers) {
    const std::size_t equal = matcher.find('=');
    if (equal != 0 && equal != matcher.npos) continue;
    return Error{"'" + matcher + "' does not say which attribute has which value",
                 "write area=A1, or type=Fire"};
  }
  return {};
}

bool hold(const Matchers& matchers, const doors::Departing::Row& row) {
  return std::ranges::all_of(matchers, [&](const std::string& matcher) {
    const std::size_t equal = matcher.find('=');
    return text_in(row, matcher.substr(0, equal)) == matcher.substr(equal + 1);
  });
}

}  // namespace gorgo::actions
