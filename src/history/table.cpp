#include "history/table.hpp"

#include <algorithm>
#include <string>
#include <unordered_map>

#include "base/value_key.hpp"

namespace gorgo::history {

std::vector<Slot> rows_to_stay(const EventStore& rows, std::span<const std::uint32_t> key,
                               Timestamp horizon) {
  std::unordered_map<std::string, Slot> newest;  // by key, before the horizon
  std::vector<Slot> stay;
  std::string text;
  for (Slot slot = rows.begin(); slot < rows.end(); ++slot) {
    if (rows.timestamp(slot) >= horizon) {
      stay.push_back(slot);
      continue;
    }
    text.clear();
    for (const std::uint32_t attribute : key) {
      append_value_key(rows.attribute(slot, attribute), text);
    }
    const auto [known, added] = newest.emplace(text, slot);
    // Where two rows have one time, the one in the later slot was placed later.
    if (!added && rows.timestamp(known->second) <= rows.timestamp(slot)) known->second = slot;
  }
  for (const auto& [of_key, slot] : newest) stay.push_back(slot);
  std::ranges::sort(stay);
  return stay;
}

}  // namespace gorgo::history
