#include "dispatch/order/released.hpp"

#include "base/scratch.hpp"

namespace gorgo::dispatch {

std::uint32_t Released::number_of(const std::shared_ptr<const Extras>& names) {
  if (names == nullptr) return OutputBatch::kNoExtras;
  if (!records.empty()) {
    const std::uint32_t last = records.back().extras;
    if (last != OutputBatch::kNoExtras && extras[last] == names) return last;
  }
  const auto known = numbers.find(names.get());
  if (known != numbers.end()) return known->second;
  const auto number = static_cast<std::uint32_t>(extras.size());
  extras.push_back(names);
  numbers.emplace(names.get(), number);
  for (const std::string& name : names->names) bytes += sizeof(name) + name.size();
  return number;
}

void Released::clear() {
  clear_scratch(records);
  clear_scratch(cells);
  strings.clear();
  extras.clear();
  numbers.clear();
  bytes = 0;
  events = ticks = 0;
  last_unseen = std::nullopt;
}

}  // namespace gorgo::dispatch
