#include "actions/inhibitor.hpp"

#include "actions/matcher.hpp"
#include "actions/target.hpp"

namespace gorgo::actions {

Inhibitor::Inhibitor(const std::map<std::string, Inhibition>& inhibitions) {
  for (const auto& [name, inhibition] : inhibitions) rules_.push_back({inhibition});
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
