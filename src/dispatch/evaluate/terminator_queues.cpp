#include "dispatch/evaluate/terminator_queues.hpp"

#include <algorithm>

namespace gorgo::dispatch {

void TerminatorQueues::start(history::ColumnId columns) {
  for (const history::ColumnId column : columns_) places_[column] = kNone;
  for (std::size_t i = 0; i < columns_.size(); ++i) empty(i);
  columns_.clear();
  touched_.clear();
  places_.resize(columns, kNone);
  next_.resize(rules_.numbers());
}

void TerminatorQueues::add(std::span<const history::History::Match> matches, history::Slot first,
                           const Records& records) {
  constexpr std::size_t kGroup = 16;  // matches whose cache misses overlap
  const history::Column* column = nullptr;
  Queue* queue = nullptr;  // that of the column
  for (std::size_t begin = 0; begin < matches.size(); begin += kGroup) {
    const auto group = matches.subspan(begin, std::min(kGroup, matches.size() - begin));
    for (const auto& match : group) {
      if (match.column == column) continue;
      __builtin_prefetch(rules_.rules_of(match.column->id()).data());
      __builtin_prefetch(&places_[match.column->id()]);
    }
    for (const auto& match : group) {
      if (match.column != column) queue = queue_of(match.column->id());
      column = match.column;
      if (queue == nullptr) continue;
      queue->push_back({match.slot, records[match.slot - first]});
    }
  }
}

/// A few queues keep what memory they have, and many only a little, because any column may be the
/// one that fills a queue.
void TerminatorQueues::empty(std::size_t place) {
  constexpr std::size_t kFew = 64;
  Queue& queue = queues_[place];
  queue.clear();
  if (place >= kFew && queue.capacity() > kFew) Queue().swap(queue);
}

/// The queue where the column's next terminator is to go; null: it is no rule's terminator.
TerminatorQueues::Queue* TerminatorQueues::queue_of(history::ColumnId column) {
  const auto rules = rules_.rules_of(column);
  if (rules.empty()) return nullptr;
  std::uint32_t& place = places_[column];
  if (place == kNone) {
    if (columns_.size() == queues_.size()) queues_.emplace_back();
    for (const std::uint32_t rule : rules) {
      touched_.push_back(rule);
      next_[rule] = 0;
    }
    columns_.push_back(column);
    place = static_cast<std::uint32_t>(columns_.size() - 1);
  }
  return &queues_[place];
}

const TerminatorQueues::Terminator* TerminatorQueues::first_left(std::uint32_t rule) const {
  const Queue& queue = of(rules_.rule(rule));
  if (queue.empty() || next_[rule] >= queue.size()) return nullptr;
  return &queue[next_[rule]];
}

void TerminatorQueues::renumber(const Records& numbers) {
  for (const history::ColumnId column : columns_) {
    for (Terminator& terminator : queues_[places_[column]]) {
      if (terminator.record != kNoRecord) terminator.record = numbers[terminator.record];
    }
  }
}

}  // namespace gorgo::dispatch
