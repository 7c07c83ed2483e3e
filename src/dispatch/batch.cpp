#include "dispatch/batch.hpp"

#include <algorithm>
#include <tuple>

namespace gorgo::dispatch {

std::uint32_t Released::number_of(const std::shared_ptr<const Extras>& names) {
  if (names == nullptr) return OutputBatch::kNoExtras;
  if (!items.empty()) {
    const std::uint32_t last = items.back().extras;
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
  clear_scratch(items);
  clear_scratch(cells);
  strings.clear();
  extras.clear();
  numbers.clear();
  bytes = 0;
}

bool PlaceOrder::operator()(std::uint32_t a, std::uint32_t b) const {
  const Record& x = records_[a];
  const Record& y = records_[b];
  if (x.root != y.root) return x.root < y.root;
  if (x.depth != y.depth) return x.depth < y.depth;
  if (x.producer == kNoRecord || y.producer == kNoRecord) return false;  // the root's own event
  if (x.producer != y.producer) return (*this)(x.producer, y.producer);
  return std::tie(x.rule, x.sequence) < std::tie(y.rule, y.sequence);
}

engine::PlaceKey place_key(const std::vector<Record>& records, std::uint32_t record) {
  engine::PlaceKey key{.root = records[record].root, .depth = records[record].depth, .path = {}};
  for (std::uint32_t i = record; records[i].producer != kNoRecord; i = records[i].producer) {
    key.path.push_back(records[i].sequence);
    key.path.push_back(records[i].rule);
  }
  std::reverse(key.path.begin(), key.path.end());
  return key;
}

}  // namespace gorgo::dispatch
