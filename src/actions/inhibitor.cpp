#include "actions/inhibitor.hpp"

#include <algorithm>

#include "actions/matcher.hpp"
#include "actions/target.hpp"

namespace gorgo::actions {
namespace {

bool may_hold(const Matchers& matchers, std::string_view type) {
  constexpr std::string_view kType = "type=";
  return std::ranges::all_of(matchers, [&](const std::string& matcher) {
    return !matcher.starts_with(kType) || matcher.substr(kType.size()) == type;
  });
}

std::string text_of(const Inhibition& inhibition) {
  std::string text = std::to_string(inhibition.for_ms);
  for (const auto& list : {inhibition.source, inhibition.target, inhibition.equal}) {
    text += '\n';
    for (const std::string& part : list) text += '\0' + part;
  }
  return text;
}

}  // namespace

Inhibitor::Inhibitor(const std::map<std::string, Inhibition>& inhibitions) {
  for (const auto& [name, inhibition] : inhibitions) rules_.push_back({name, inhibition});
}

bool Inhibitor::is_about(std::string_view type) const {
  return std::ranges::any_of(rules_, [&](const Rule& rule) {
    return may_hold(rule.settings.source, type) || may_hold(rule.settings.target, type);
  });
}

std::vector<Inhibitor::Saved> Inhibitor::saved() const {
  std::vector<Saved> all;
  for (const Rule& rule : rules_) {
    Saved& added = all.emplace_back(Saved{rule.name, text_of(rule.settings), {}});
    for (const auto& [time, shared] : rule.by_time) added.sources.emplace_back(shared, time);
  }
  return all;
}

void Inhibitor::restore(const std::vector<Saved>& saved) {
  for (Rule& rule : rules_) {
    for (const Saved& known : saved) {
      if (known.name != rule.name || known.settings != text_of(rule.settings)) continue;
      for (const auto& [shared, time] : known.sources) rule.note(shared, time);
    }
  }
}

bool Inhibitor::takes(const doors::Departing::Row& row) {
  bool is_inhibited = false;
  for (Rule& rule : rules_) is_inhibited |= rule.takes(row);
  return is_inhibited;
}

bool Inhibitor::Rule::takes(const doors::Departing::Row& row) {
  const bool is_source = hold(settings.source, row);
  if (!is_source && !hold(settings.target, row)) return false;
  const Timestamp now = row.event.timestamp.value_or(0);
  forget_past(now);
  std::string shared = texts_in(row, settings.equal);
  // An event that could inhibit itself inhibits others only.
  if (!is_source) return sources.contains(shared);
  note(std::move(shared), now);
  return false;
}

void Inhibitor::Rule::note(std::string shared, Timestamp time) {
  constexpr std::size_t kMost = 10'000;
  sources[shared] = time;
  by_time.emplace_back(time, std::move(shared));
  if (by_time.size() > kMost) forget_past(by_time.front().first + settings.for_ms * 1'000'000 + 1);
}

void Inhibitor::Rule::forget_past(Timestamp now) {
  while (!by_time.empty() && now - by_time.front().first > settings.for_ms * 1'000'000) {
    const auto known = sources.find(by_time.front().second);
    if (known != sources.end() && known->second == by_time.front().first) sources.erase(known);
    by_time.pop_front();
  }
}

}  // namespace gorgo::actions
