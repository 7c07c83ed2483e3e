#include "server/rules/composite_difference.hpp"

#include <algorithm>
#include <cstdlib>
#include <utility>
#include <vector>

namespace gorgo::server {
namespace {

constexpr std::size_t kMostSamples = 20;  // of each side
constexpr std::size_t kBesideLine = 128;  // bytes of an entry that waits, its text apart

}  // namespace

/// The attributes stand by their names: a version of the rules may give them in another order.
std::string CompositeDifference::line_of(const OutputBatch& batch,
                                         const OutputBatch::Row& row) const {
  std::vector<std::pair<std::string_view, Datum>> attributes;
  batch.for_each_attribute(row, [&](std::string_view name, const Datum& value) {
    attributes.emplace_back(name, value);
  });
  std::ranges::sort(attributes, {}, [](const auto& attribute) { return attribute.first; });
  std::string line;
  writer_->begin(line, batch.type_name(row), row.timestamp);
  for (const auto& [name, value] : attributes) writer_->attribute(line, name, value);
  writer_->end(line);
  if (line.ends_with('\n')) line.pop_back();
  return line;
}

void CompositeDifference::add(Side side, const OutputBatch& batch, const OutputBatch::Row& row) {
  const auto [entry, is_new] = waiting_.try_emplace(line_of(batch, row));
  std::int64_t& more = entry->second.more;
  if (is_new) {
    entry->second.type = batch.type_name(row);
    waiting_bytes_ += entry->first.size() + kBesideLine;
  }
  const std::int64_t step = side == Side::deployed ? 1 : -1;
  if (more * step < 0) ++counts_.both;
  more += step;
  if (more != 0) return;
  waiting_bytes_ -= entry->first.size() + kBesideLine;
  waiting_.erase(entry);
}

void CompositeDifference::settle() {
  for (const auto& [line, waiting] : waiting_) {
    const Side side = waiting.more > 0 ? Side::deployed : Side::shadow;
    counts_.only[index_of(side)] += static_cast<std::uint64_t>(std::abs(waiting.more));
    keep_sample(side, {waiting.type, line});
  }
  waiting_.clear();
  waiting_bytes_ = 0;
}

void CompositeDifference::keep_sample(Side side, Sample sample) {
  auto& samples = samples_[index_of(side)];
  if (samples.size() == kMostSamples) samples.pop_front();
  samples.push_back(std::move(sample));
}

void CompositeDifference::restart() {
  counts_ = {};
  for (auto& samples : samples_) samples.clear();
}

}  // namespace gorgo::server
