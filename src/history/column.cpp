#include "history/column.hpp"

#include <algorithm>
#include <cassert>
#include <iterator>
#include <utility>

#include "history/evaluate.hpp"

namespace gorgo::history {
namespace {

/// The name of the index over these subjects.
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

/// The events from `from` on that the column accepts, of those that the store still holds. What is
/// known already is not looked for again.
const std::vector<Slot>& Column::accepted(Slot from, Accepted& known) const {
  if (known.from == from) return known.slots;
  known.from = from;
  known.slots.clear();
  for (Slot slot = std::max(from, store_.begin()); slot < store_.end(); ++slot) {
    if (accepts(slot)) known.slots.push_back(slot);
  }
  return known.slots;
}

template <class Index>
void Column::ask(Kept<Index>& kept, bool in_use) {
  const bool ahead = filling_ == Filling::ahead && !in_use;
  if (ahead) kept.is_filling = kept.next != store_.end();
  if (ahead && !kept.is_filling) return;
  kept.is_asked = filling_ != Filling::at_once && !ahead;
  if (filling_ != Filling::at_once) return;
  Accepted known;
  catch_up(kept, known);
}

template <class Index>
void Column::catch_up(Kept<Index>& kept, Accepted& known) {
  assert(fresh_.empty());
  kept.is_filling = false;
  if (kept.next == store_.end()) return;
  kept.index->add(accepted(kept.next, known));
  kept.next = store_.end();
}

void Column::catch_up_timeline() {
  is_timeline_filling_ = false;
  Accepted known;
  timeline_->add(accepted(timeline_next_, known));
}

template <class Indexes>
void Column::build(Indexes& indexes, Accepted& known) {
  for (auto& [name, kept] : indexes) {
    if (std::exchange(kept.is_asked, false)) catch_up(kept, known);
  }
}

void Column::build() {
  filling_ = Filling::at_once;
  Accepted known;
  build(indexes_, known);
  build(range_indexes_, known);
}

/// Calls `f(search, next)` for each way to search that is being filled.
template <class F>
void Column::for_each_filling(F f) {
  if (is_timeline_filling_) f(*timeline_, timeline_next_);
  for (auto& [name, kept] : indexes_) {
    if (kept.is_filling) f(*kept.index, kept.next);
  }
  for (auto& [attribute, kept] : range_indexes_) {
    if (kept.is_filling) f(*kept.index, kept.next);
  }
}

bool Column::is_filling() const {
  const auto fills = [](const auto& entry) { return entry.second.is_filling; };
  return is_timeline_filling_ || std::ranges::any_of(indexes_, fills) ||
         std::ranges::any_of(range_indexes_, fills);
}

Slot Column::filled_to() const {
  Slot first = is_timeline_filling_ ? timeline_next_ : store_.end();
  for (const auto& [name, kept] : indexes_) {
    if (kept.is_filling) first = std::min(first, kept.next);
  }
  for (const auto& [attribute, kept] : range_indexes_) {
    if (kept.is_filling) first = std::min(first, kept.next);
  }
  return first;
}

void Column::fill() {
  for_each_filling([this](auto& search, Slot& next) {
    const auto first = std::ranges::lower_bound(noted_, next);
    search.add(std::span(first, noted_.end()));
    if (!noted_.empty()) next = std::max(next, noted_.back() + 1);
  });
  noted_.clear();
}

void Column::abandon_filling() {
  noted_.clear();
  const auto forget_filling = [](auto& indexes) {
    for (auto it = indexes.begin(); it != indexes.end();) {
      it = it->second.is_filling ? indexes.erase(it) : std::next(it);
    }
  };
  forget_filling(indexes_);
  forget_filling(range_indexes_);
  if (std::exchange(is_timeline_filling_, false)) timeline_ = nullptr;
}

void Column::end_filling() {
  assert(fresh_.empty());
  for_each_filling([this](auto&, Slot& next) { next = store_.end(); });
  is_timeline_filling_ = false;
  for (auto& [name, kept] : indexes_) kept.is_filling = false;
  for (auto& [attribute, kept] : range_indexes_) kept.is_filling = false;
}

/// Has the indexes that do not rest take in what is settling, and lets go of those that have rested
/// for too long.
template <class Indexes>
void Column::keep_up(Indexes& indexes) {
  for (auto it = indexes.begin(); it != indexes.end();) {
    auto& kept = it->second;
    if (kept.is_filling && !kept.rests()) {
      ++it;
      continue;
    }
    if (!kept.rests()) {
      take_in(kept.index);
      kept.next = store_.end();
    }
    const bool is_behind = 2 * (store_.end() - kept.next) > store_.end() - store_.begin();
    it = is_behind ? indexes.erase(it) : std::next(it);
  }
}

std::shared_ptr<const Timeline> Column::timeline(std::span<const std::uint32_t> attributes) {
  if (!timeline_) {
    timeline_ = std::make_shared<Timeline>(store_);
    timeline_next_ = 0;
    is_timeline_filling_ = true;
  }
  const bool ahead = filling_ == Filling::ahead && store_.begin() != store_.end();
  if (is_timeline_filling_ && !ahead) catch_up_timeline();
  timeline_->drop_until(store_.horizon());
  timeline_->materialise(attributes);
  return timeline_;
}

std::shared_ptr<const HashIndex> Column::index(std::vector<Expr> subjects,
                                               std::optional<std::uint32_t> summed,
                                               std::optional<std::uint32_t> valued) {
  auto& kept = indexes_[name_of(subjects)];
  auto& index = kept.index;
  const bool in_use = kept.index.use_count() > 1 && !kept.is_filling;
  if (!index) index = std::make_shared<HashIndex>(std::move(subjects), store_, pool_, threads_ > 1);
  if (summed && !index->find_sum(*summed)) {
    index->add_sum(*summed);
    kept.next = 0;
  }
  if (valued && !index->find_values(*valued)) {
    index->add_values(*valued);
    kept.next = 0;
  }
  ask(kept, in_use);
  return index;
}

std::shared_ptr<const RangeIndex> Column::range_index(std::uint32_t attribute) {
  auto& kept = range_indexes_[attribute];
  const bool in_use = kept.index.use_count() > 1 && !kept.is_filling;
  if (!kept.index) kept.index = std::make_shared<RangeIndex>(attribute, store_);
  ask(kept, in_use);
  return kept.index;
}

void Column::settle(std::vector<Chore>& chores, unsigned at_once) {
  constexpr std::size_t kWorthAThread = 256;
  settling_.clear();
  settling_.swap(fresh_);
  chores_ = threads_ > 1 && settling_.size() >= kWorthAThread ? &chores : nullptr;
  weight_ = settled_.weight(settling_.size()) / at_once;
  if (timeline_ && !is_timeline_filling_) {
    if (chores_ == nullptr) timeline_->drop_until(store_.horizon());
    take_in(timeline_);
  }
  keep_up(indexes_);
  keep_up(range_indexes_);
}

template <class Search>
void Column::take_in(const std::shared_ptr<Search>& search) {
  const auto holders = static_cast<double>(std::max(1L, search.use_count() - 1));
  const UpkeepTimer timer(search->upkeep(), weight_ / holders);
  // What is left to others is shared by all threads.
  take_in(*search, chores_ == nullptr ? 0 : 1 / holders / threads_);
}

void Column::take_in(Timeline& timeline, double weight) {
  if (chores_ == nullptr) return timeline.add({settling_.data(), settling_.size()});
  chores_->emplace_back([&timeline, weight, this] {
    const UpkeepTimer timer(timeline.upkeep(), weight);
    timeline.add({settling_.data(), settling_.size()});
  });
}

void Column::take_in(HashIndex& index, double weight) {
  // An index that is not divided has its memory from a pool that all columns of the type share.
  const std::span<const Slot> slots(settling_.data(), settling_.size());
  if (chores_ == nullptr || !index.is_divided()) return index.add(slots);
  index.prepare(slots);
  share(index.parts(), index.upkeep(), weight,
        [&index](std::size_t part, std::size_t parts) { index.add_part(part, parts); });
}

void Column::take_in(RangeIndex& index, double weight) {
  const std::span<const Slot> slots(settling_.data(), settling_.size());
  if (chores_ == nullptr) return index.add(slots);
  index.take(slots);
  share(index.parts(), index.upkeep(), weight,
        [&index](std::size_t part, std::size_t parts) { index.tidy(part, parts); });
}

template <class F>
void Column::share(std::size_t most, Upkeep& upkeep, double weight, F work) {
  const std::size_t parts = std::min<std::size_t>(most, threads_);
  for (std::size_t part = 0; part < parts; ++part) {
    chores_->emplace_back([=, &upkeep] {
      const UpkeepTimer timer(upkeep, weight);
      work(part, parts);
    });
  }
}

void Column::drop_gone(std::size_t share) {
  constexpr std::size_t kSweep = 4;  // entries of an index per event: faster than they fill
  const double weight = dropped_.weight(share);
  const auto timed = [weight](auto& search, auto drop) {
    const auto holders = static_cast<double>(std::max(1L, search.use_count() - 1));
    const UpkeepTimer timer(search->upkeep(), weight / holders);
    drop(*search);
  };
  const auto horizon = store_.horizon();
  if (timeline_) timed(timeline_, [&](Timeline& timeline) { timeline.drop_until(horizon); });
  for (auto& [name, kept] : indexes_) {
    if (kept.rests()) continue;
    timed(kept.index, [&](HashIndex& index) { index.drop_gone(kSweep * share); });
  }
  for (auto& [attribute, kept] : range_indexes_) {
    if (!kept.rests()) timed(kept.index, [](RangeIndex& index) { index.drop_gone(); });
  }
}

void Column::trim() {
  if (timeline_ == nullptr || timeline_.use_count() > 1) return;
  timeline_ = nullptr;
  is_timeline_filling_ = false;
}

std::size_t Column::bytes() const {
  std::size_t total = sizeof(*this) + (fresh_.capacity() + settling_.capacity()) * sizeof(Slot);
  if (timeline_) total += timeline_->bytes();
  for (const auto& [name, kept] : indexes_) total += kept.index->bytes();
  for (const auto& [attribute, kept] : range_indexes_) total += kept.index->bytes();
  return total;
}

}  // namespace gorgo::history
