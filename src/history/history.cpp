#include "history/history.hpp"

#include <algorithm>
#include <cassert>
#include <limits>
#include <utility>

#include "base/arithmetic.hpp"
#include "history/table.hpp"

namespace gorgo::history {

void History::keep(const EventType& type, Duration reach) {
  if (type.id >= types_.size()) types_.resize(type.id + 1);
  expect(type);
  Kept& kept = types_[type.id];
  kept.reach = reach;
  if (!kept.is_expected) return;
  kept.place = kept_types_.size();
  kept_types_.push_back(type.id);
  kept.is_expected = false;
}

void History::expect(const EventType& type) {
  if (type.id >= types_.size()) types_.resize(type.id + 1);
  Kept& kept = types_[type.id];
  if (kept.store) return;
  kept.store = std::make_unique<EventStore>(type);
  kept.matcher = std::make_unique<PredicateIndex>(*kept.store);
  kept.is_expected = true;
}

void History::give_up(TypeId expected) {
  if (expected >= types_.size() || !types_[expected].is_expected) return;
  Kept& kept = types_[expected];
  trim(kept);
  assert(kept.columns.empty());
  kept = {};
}

void History::restore(const EventType& type, const EventStore::Marks& marks) {
  keep(type, 0);
  types_[type.id].store->restore(marks);
  types_[type.id].matched = marks.begin;
}

void History::hold() {
  for (const TypeId type : kept_types_) types_[type].is_held = true;
}

void History::forget(TypeId type) {
  assert(keeps(type));
  Kept& kept = types_[type];
  trim(kept);
  assert(kept.columns.empty());
  const TypeId last = kept_types_.back();
  kept_types_[kept.place] = last;
  types_[last].place = kept.place;
  kept_types_.pop_back();
  kept = {};
}

void History::release_columns(TypeId type) {
  constexpr std::size_t kShare = 8;  // one column in so many
  assert(keeps(type));
  Kept& kept = types_[type];
  if (kShare * ++kept.released >= kept.columns.size()) trim(kept);
}

/// Lets go of columns, and ways to search them, that nobody holds.
void History::trim(Kept& kept) {
  const auto gone = [&](const auto& entry) {
    if (entry.second.use_count() > 1) return entry.second->trim(), false;
    free_columns_.push_back(entry.second->id());
    return true;
  };
  kept.searched_changed = true;
  kept.released = 0;
  if (erase_if(kept.columns, gone) == 0) return;
  kept.matcher->clear();
  for (auto& [key, column] : kept.columns) kept.matcher->add(*column);
}

void History::trim() {
  for (const TypeId type : kept_types_) trim(types_[type]);
}

std::shared_ptr<Column> History::column(const plan::ColumnSpec& spec) {
  Kept& kept = types_[spec.type];
  assert(kept.store != nullptr);
  const auto known = kept.columns.find(spec.key);
  auto column = known == kept.columns.end() ? add_column(kept, spec) : known->second;
  // What is searched may change with whoever asks.
  if (filling_ != Column::Filling::ahead) kept.searched_changed = true;
  if (filling_ != Column::Filling::at_once) {
    deferred_.emplace_back(spec.type, column);
    if (!column->defer(filling_)) deferred_.pop_back();
  }
  return column;
}

std::shared_ptr<Column> History::add_column(Kept& kept, const plan::ColumnSpec& spec) {
  if (free_columns_.empty()) free_columns_.push_back(next_column_++);
  auto column =
      std::make_shared<Column>(free_columns_.back(), spec, *kept.store, *kept.pool, threads_);
  kept.columns.emplace(column->key(), column);
  free_columns_.pop_back();
  kept.matcher->add(*column);
  return column;
}

void History::build_deferred() {
  filling_ = Column::Filling::at_once;
  for (auto& [type, column] : std::exchange(deferred_, {})) {
    column->build();
    if (!column->is_filling()) continue;
    Kept& kept = types_[type];
    if (kept.filling.empty()) {
      filling_types_.push_back(type);
      kept.filled_to = kept.store->end();
    }
    kept.filled_to = std::min(kept.filled_to, column->filled_to());
    kept.filling.push_back(std::move(column));
  }
}

bool History::fill(std::chrono::steady_clock::time_point until) {
  for (; !filling_types_.empty(); filling_types_.pop_back()) {
    Kept& kept = types_[filling_types_.back()];
    while (kept.filled_to < kept.store->end()) {
      try {
        fill_some(kept);
      } catch (...) {
        abandon_filling(kept);
        throw;
      }
      const bool has_more = kept.filled_to < kept.store->end();
      if (has_more && std::chrono::steady_clock::now() >= until) return false;
    }
    if (!end_filling(kept, until)) return false;
  }
  return true;
}

/// Has the columns that are filled take in the next events that they accept.
void History::fill_some(Kept& kept) {
  constexpr Slot kGroup = 1024;
  Slot slot = std::max(kept.filled_to, kept.store->begin());
  kept.filled_to = std::min(slot + kGroup, kept.store->end());
  std::vector<Column*> noted;
  for (; slot < kept.filled_to; ++slot) {
    kept.matcher->for_each_match(slot, [&](Column& column) {
      if (column.is_filling() && column.note(slot)) noted.push_back(&column);
    });
  }
  for (Column* const column : noted) column->fill();
}

void History::abandon_filling(Kept& kept) {
  for (const auto& column : kept.filling) column->abandon_filling();
  kept.filling.clear();
  kept.filled_to = kept.store->end();
  kept.searched_changed = true;
}

/// All stored events were seen. Returns false where there was no time for all columns; then events
/// may come, which the others have to see first.
bool History::end_filling(Kept& kept, std::chrono::steady_clock::time_point until) {
  constexpr std::size_t kGroup = 256;
  auto& columns = kept.filling;
  while (!columns.empty()) {
    for (std::size_t i = 0; i < kGroup && !columns.empty(); ++i) {
      columns.back()->end_filling();
      columns.pop_back();
    }
    if (!columns.empty() && std::chrono::steady_clock::now() >= until) return false;
  }
  kept.searched_changed = true;
  return true;
}

void History::stop_filling() {
  for (const TypeId type : std::exchange(filling_types_, {})) types_[type].filling.clear();
}

Slot History::append(TypeId type, std::span<const NewEvent> events) {
  return types_[type].store->append(events);
}

std::span<const History::Match> History::settle(TypeId type, unsigned at_once) {
  constexpr Slot kGroup = 16;  // whose cache misses overlap
  Kept& kept = types_[type];
  kept.matches.clear();
  if (Column* const all = kept.matcher->only()) match_all(kept, *all);
  while (kept.matched < kept.store->end()) {
    const Slot first = kept.matched;
    kept.matched = std::min(first + kGroup, kept.store->end());
    match(kept, first, kept.matched);
  }
  settle_columns(kept, at_once);
  return kept.matches;
}

void History::match_all(Kept& kept, Column& column) {
  const Slot first = std::exchange(kept.matched, kept.store->end());
  if (first == kept.matched) return;
  for (Slot slot = first; slot < kept.matched; ++slot) kept.matches.push_back({&column, slot});
  if (column.take(first, kept.matched)) kept.unsettled.push_back(&column);
}

void History::match(Kept& kept, Slot first, Slot last) {
  const std::size_t known = kept.matches.size();
  for (Slot slot = first; slot < last; ++slot) {
    kept.matcher->for_each_match(slot, [&](Column& column) {
      __builtin_prefetch(&column);
      kept.matches.push_back({&column, slot});
    });
  }
  for (const auto& [column, slot] : std::span(kept.matches).subspan(known)) {
    if (column->take(slot)) kept.unsettled.push_back(column);
  }
}

void History::settle_columns(Kept& kept, unsigned at_once) {
  constexpr std::size_t kGroup = 16;  // whose cache misses overlap
  auto& unsettled = kept.unsettled;
  kept.chores.clear();
  for (std::size_t first = 0; first < unsettled.size(); first += kGroup) {
    const auto group =
        std::span(unsettled).subspan(first, std::min(kGroup, unsettled.size() - first));
    for (const Column* column : group) column->prefetch();
    for (Column* column : group) column->settle(kept.chores, at_once);
  }
  unsettled.clear();
}

void History::evict(Timestamp clock) {
  // Room is kept for the events of the next batch, unless so many batches bring none.
  constexpr std::uint32_t kIdle = 16;
  for (const TypeId type : kept_types_) {
    Kept& kept = types_[type];
    // A reach that is the greatest of all may stand for a greater one: nothing is out of it.
    if (kept.is_held || kept.reach == std::numeric_limits<Duration>::max()) continue;
    // Windows are open: an event exactly `reach` old is out of reach already.
    const Timestamp gone = arithmetic::saturating_subtract(clock, kept.reach);
    if (const std::size_t dropped = kept.store->drop_until(gone)) {
      kept.idle = 0;
      sweep(kept, dropped);
    } else if (++kept.idle == kIdle) {
      kept.store->give_back_spare();
    }
  }
}

/// Lets some columns drop what the store has dropped, in turn: the work is in proportion to the
/// dropped events, not to the columns. A column is a cache miss or more, so it makes up for several
/// events at once; one that takes events in drops some then, too.
void History::sweep(Kept& kept, std::size_t dropped) {
  if (kept.searched_changed) {
    kept.searched.clear();
    for (auto& [key, column] : kept.columns) {
      if (column->is_searched()) kept.searched.push_back(column.get());
    }
    kept.searched_changed = false;
  }
  constexpr std::size_t kEach = 8;
  const std::size_t count = std::min(kept.searched.size(), dropped / kEach + 1);
  for (std::size_t i = 0; i < count; ++i) {
    kept.next_searched = (kept.next_searched + 1) % kept.searched.size();
    kept.searched[kept.next_searched]->drop_gone(dropped / count + 1);
  }
}

bool History::is_untidy(TypeId type) const {
  const Kept& kept = types_[type];
  const std::size_t rows = kept.store->end() - kept.store->begin();
  return !kept.is_held && rows > 2 * kept.tidy_rows + few_rows_;
}

History::Moved History::tidy(TypeId type, std::span<const std::uint32_t> key, Timestamp horizon) {
  Kept& kept = types_[type];
  trim(kept);
  assert(kept.columns.empty());
  Moved moved;
  const Slot before = kept.store->end();
  for (const Slot slot : rows_to_stay(*kept.store, key, horizon)) {
    moved.emplace(slot, kept.store->append_again(slot));
  }
  kept.store->drop_before(before);
  kept.matched = kept.store->end();
  kept.tidy_rows = moved.size();
  return moved;
}

std::size_t History::bytes(TypeId type) const {
  if (!keeps(type)) return 0;
  std::size_t total = types_[type].store->bytes() + types_[type].matcher->bytes() +
                      types_[type].pool->spare_bytes();
  for (const auto& [key, column] : types_[type].columns) total += column->bytes();
  return total;
}

}  // namespace gorgo::history
