#include "actions/silences.hpp"

#include <algorithm>
#include <utility>

#include "actions/target.hpp"

namespace gorgo::actions {
namespace {

bool holds(const std::string& matcher, const doors::Departing::Row& row) {
  const std::size_t equal = matcher.find('=');
  return text_in(row, matcher.substr(0, equal)) == matcher.substr(equal + 1);
}

}  // namespace

void Silences::forget_past(Timestamp now) {
  std::erase_if(all_, [now](const ActionSilence& silence) { return silence.until <= now; });
}

Result<std::uint64_t> Silences::add(ActionSilence silence, Timestamp now) {
  constexpr std::size_t kMost = 1000;
  forget_past(now);
  for (const std::string& matcher : silence.matchers) {
    const std::size_t equal = matcher.find('=');
    if (equal != 0 && equal != matcher.npos) continue;
    return Error{"'" + matcher + "' does not say which attribute has which value",
                 "write area=A1, or type=Fire"};
  }
  if (silence.until <= now) return Error{"the silence would be over already", ""};
  if (all_.size() >= kMost) return Error{"the target has 1000 silences", "end some of them"};
  silence.id = ++last_id_;
  all_.push_back(std::move(silence));
  return last_id_;
}

bool Silences::end(std::uint64_t id) {
  return std::erase_if(all_, [id](const ActionSilence& silence) { return silence.id == id; }) > 0;
}

bool Silences::takes(const doors::Departing::Row& row, Timestamp now) {
  if (all_.empty()) return false;
  forget_past(now);
  return std::ranges::any_of(all_, [&](const ActionSilence& silence) {
    return std::ranges::all_of(silence.matchers,
                               [&](const std::string& matcher) { return holds(matcher, row); });
  });
}

}  // namespace gorgo::actions
