#include "engine/terminator_counts.hpp"

#include "base/value_key.hpp"

namespace gorgo::engine {

void TerminatorCounts::read_key(const Every& every, history::EventRef event) {
  key_.clear();
  for (const std::uint32_t attribute : every.per) {
    append_value_key(event.store->attribute(event.slot, attribute), key_);
  }
}

bool TerminatorCounts::count(const Every& every, history::EventRef event) {
  read_key(every, event);
  const auto events = events_.try_emplace(key_, 0).first;
  if (++events->second < every.events) return false;
  events_.erase(events);
  return true;
}

std::uint64_t TerminatorCounts::take_back(const Every& every, history::EventRef event) {
  read_key(every, event);
  const auto events = events_.find(key_);
  if (events == events_.end()) {
    if (every.events > 1) events_.emplace(key_, every.events - 1);
    return every.events;
  }
  const std::uint64_t number = events->second--;
  if (number == 1) events_.erase(events);
  return number;
}

std::size_t TerminatorCounts::bytes() const {
  constexpr std::size_t kNode = 2 * sizeof(void*) + sizeof(std::string) + sizeof(std::uint64_t);
  std::size_t total = 0;
  for (const auto& [key, events] : events_) total += kNode + key.capacity();
  return total;
}

}  // namespace gorgo::engine
