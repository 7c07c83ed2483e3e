#include "server/rules/rule_latencies.hpp"

#include <algorithm>
#include <new>
#include <utility>

namespace gorgo::server {

void RuleLatencies::Sum::add(const Sum& other) {
  all += other.all;
  longest = std::max(longest, other.longest);
  composites += other.composites;
}

void RuleLatencies::Recent::add(const Sum& sum, Moment at) {
  if (at - began >= kStretch) {
    before = std::exchange(now, Sum());
    began = at;
  }
  now.add(sum);
}

void RuleLatencies::take(const OutputBatch& batch, const LatencyWatch& publications,
                         Moment now) noexcept {
  try {
    note(batch, publications, now);
  } catch (const std::bad_alloc&) {
    of_batch_.clear();
    firing_.clear();
  }
}

/// Composites of one root stand beside each other, so that most need no search.
void RuleLatencies::note(const OutputBatch& batch, const LatencyWatch& publications, Moment now) {
  of_batch_.resize(std::max(of_batch_.size(), batch.rule_names.size()));
  std::size_t from = 0;
  std::optional<Timestamp> time;
  std::optional<Moment> received;
  for (const OutputBatch::Row& row : batch.rows) {
    if (row.rule == OutputBatch::kPrimitive) continue;
    if (time != row.timestamp) {
      time = row.timestamp;
      received = publications.received(*time, from);
    }
    if (!received) continue;
    Sum& sum = of_batch_[row.rule];
    if (sum.composites == 0) firing_.push_back(row.rule);
    const std::chrono::nanoseconds took = now - *received;
    sum.add({.all = took, .longest = took, .composites = 1});
  }
  for (const std::uint32_t rule : firing_) {
    keep(batch.rule_names[rule], std::exchange(of_batch_[rule], Sum()), now);
  }
  firing_.clear();
}

/// Rules that have gone are forgotten with all others, once they are many.
void RuleLatencies::keep(std::string_view rule, const Sum& sum, Moment now) {
  constexpr std::size_t kSpare = 1024;
  auto found = recent_.find(rule);
  if (found == recent_.end()) {
    if (recent_.size() >= of_batch_.size() + kSpare) recent_.clear();
    found = recent_.emplace(rule, Recent{.began = now, .before = {}, .now = {}}).first;
  }
  found->second.add(sum, now);
}

std::optional<RuleLatency> RuleLatencies::of(std::string_view rule) const {
  const auto found = recent_.find(rule);
  if (found == recent_.end()) return std::nullopt;
  Sum sum = found->second.before;
  sum.add(found->second.now);
  const auto seconds = [](std::chrono::nanoseconds time) {
    return std::chrono::duration<double>(time).count();
  };
  return RuleLatency{.mean = seconds(sum.all) / static_cast<double>(sum.composites),
                     .longest = seconds(sum.longest)};
}

}  // namespace gorgo::server
