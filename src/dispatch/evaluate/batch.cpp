#include "dispatch/evaluate/batch.hpp"

#include <algorithm>
#include <tuple>

namespace gorgo::dispatch {

bool PlaceOrder::operator()(std::uint32_t a, std::uint32_t b) const {
  const Record& x = records_[a];
  const Record& y = records_[b];
  if (x.root != y.root) return x.root < y.root;
  if (x.depth != y.depth) return x.depth < y.depth;
  if (x.producer == kNoRecord || y.producer == kNoRecord) return false;  // the root's own event
  if (x.producer != y.producer) return (*this)(x.producer, y.producer);
  return std::tie(x.rule, x.sequence) < std::tie(y.rule, y.sequence);
}

void renumber(Records& records, const Records& numbers) {
  for (std::uint32_t& record : records) record = numbers[record];
  std::erase(records, kNoRecord);
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
