#include "history/column.hpp"

#include <algorithm>

#include "history/evaluate.hpp"

namespace gorgo::history {
namespace {

/// Of an index.
std::string name_of(std::span<const Expr> subjects) {
  std::string name;
  for (const Expr& subject : subjects) name += plan::fingerprint(subject);
  return name;
}

}  // namespace

bool Column::accepts(Slot slot) const {
  if (conditions_.empty()) return true;
  return all_hold(conditions_, {.candidate = {&store_, slot}, .states = {}, .aggregates = {}});
}

std::vector<Slot> Column::accepted() const {
  std::vector<Slot> slots;
  for (Slot slot = store_.begin(); slot < store_.end(); ++slot) {
    if (accepts(slot)) slots.push_back(slot);
  }
  return slots;
}

std::shared_ptr<const Timeline> Column::timeline(std::span<const std::uint32_t> attributes) {
  if (!timeline_) {
    timeline_ = std::make_shared<Timeline>(store_);
    timeline_->add(accepted());
  }
  timeline_->drop_until(store_.horizon());
  timeline_->materialise(attributes);
  return timeline_;
}

std::shared_ptr<const HashIndex> Column::index(std::vector<Expr> subjects,
                                               std::optional<std::uint32_t> summed,
                                               std::optional<std::uint32_t> valued) {
  auto& index = indexes_[name_of(subjects)];
  const bool complete =
      index && (!summed || index->find_sum(*summed)) && (!valued || index->find_values(*valued));
  if (!index) index = std::make_shared<HashIndex>(std::move(subjects), store_, pool_);
  if (summed && !index->find_sum(*summed)) index->add_sum(*summed);
  if (valued && !index->find_values(*valued)) index->add_values(*valued);
  if (!complete) index->add(accepted());
  return index;
}

std::shared_ptr<const RangeIndex> Column::range_index(std::uint32_t attribute) {
  auto& index = range_indexes_[attribute];
  if (!index) {
    index = std::make_shared<RangeIndex>(attribute, store_);
    index->add(accepted());
  }
  return index;
}

void Column::settle() {
  if (timeline_) timeline_->add(fresh_);
  for (auto& [name, index] : indexes_) index->add(fresh_);
  for (auto& [attribute, index] : range_indexes_) index->add(fresh_);
  fresh_.clear();
}

void Column::drop_gone(std::size_t share) {
  constexpr std::size_t kSweep = 4;  // entries of an index per event: faster than they fill
  if (timeline_) timeline_->drop_until(store_.horizon());
  for (auto& [name, index] : indexes_) index->drop_gone(kSweep * share);
  for (auto& [attribute, index] : range_indexes_) index->drop_gone();
}

void Column::trim() {
  if (timeline_ && timeline_.use_count() == 1) timeline_ = nullptr;
  const auto is_idle = [](const auto& entry) { return entry.second.use_count() == 1; };
  std::erase_if(indexes_, is_idle);
  std::erase_if(range_indexes_, is_idle);
}

std::size_t Column::bytes() const {
  std::size_t total = sizeof(*this) + fresh_.capacity() * sizeof(Slot);
  if (timeline_) total += timeline_->bytes();
  for (const auto& [name, index] : indexes_) total += index->bytes();
  for (const auto& [attribute, index] : range_indexes_) total += index->bytes();
  return total;
}

Column::Profile Column::profile(std::span<const Expr> subjects) const {
  Profile result{.events = store_.end() - store_.begin()};
  if (timeline_) result.events = timeline_->end() - timeline_->begin();
  const auto known = indexes_.find(name_of(subjects));
  if (known == indexes_.end()) return result;
  if (!timeline_) result.events = known->second->events();
  result.keys = known->second->keys();
  return result;
}

}  // namespace gorgo::history
