#include "dispatch/evaluate/history_writer.hpp"

#include <algorithm>

#include "dispatch/evaluate/out_of_memory.hpp"

namespace gorgo::dispatch {

void HistoryWriter::store_level(std::uint32_t level) {
  find_due_types(level);
  if (due_types_.size() == 1) {
    store_due(due_types_.front());
  } else if (due_types_.size() > 1) {
    store_together();
  }
  queue_terminators(due_types_);
}

void HistoryWriter::store_due(TypeId type) {
  expected_.take(type, stored_[type].records);
  store(type);
}

void HistoryWriter::store_together() {
  share_types();
  at_once_ = std::min(workers_.threads(), static_cast<unsigned>(shares_.size()));
  workers_.run(shares_.size(), [this](std::size_t share) {
    const std::size_t begin = share == 0 ? 0 : shares_[share - 1];
    for (std::size_t i = begin; i < shares_[share]; ++i) store_due(due_types_[i]);
  });
  at_once_ = 1;
}

/// The types with the most records come first, so that little is left for the thread that the
/// others wait for at the end.
void HistoryWriter::find_due_types(std::uint32_t level) {
  due_types_.clear();
  for (const TypeId type : expected_.types()) {
    const bool due =
        rules_.strata().level_of_type(type) == level && !rules_.strata().in_cycle(type);
    if (due && expected_.size(type) > 0) due_types_.push_back(type);
  }
  if (due_types_.size() < 2) return;  // sorting takes memory
  std::stable_sort(due_types_.begin(), due_types_.end(),
                   [this](TypeId a, TypeId b) { return expected_.size(a) > expected_.size(b); });
}

/// Divides the types, which do not depend on each other, among threads. A share is large enough
/// that handing it to another thread takes less time than the share.
void HistoryWriter::share_types() {
  constexpr std::size_t kEvents = 256;
  const std::size_t least = thread_events_ > 0 ? thread_events_ : kEvents;
  shares_.clear();
  std::size_t events = 0;
  for (std::size_t i = 0; i < due_types_.size(); ++i) {
    events += expected_.size(due_types_[i]);
    if (events < least && i + 1 < due_types_.size()) continue;
    shares_.push_back(i + 1);
    events = 0;
  }
}

void HistoryWriter::store(TypeId type, Records& records) {
  stored_[type].records.swap(records);
  store(type);
}

/// Stores what stands in `stored_`.
void HistoryWriter::store(TypeId type) {
  with_memory_to("remember events of type", rules_.schema().at(type).name,
                 "make the windows of the rules that read it shorter", [&] { remember(type); });
}

void HistoryWriter::remember(TypeId type) {
  Stored& stored = stored_[type];
  const Batch& batch = wave_.batch();
  const Record* const records = batch.records.data();
  if (rules_.strata().is_produced(type)) {
    std::erase_if(stored.records, [&](std::uint32_t i) { return records[i].dropped; });
  }
  stored.events.resize(stored.records.size());
  stored.deepest = 0;
  const Datum* const cells = batch.cells.data();
  auto event = stored.events.begin();
  for (const std::uint32_t index : stored.records) {
    const Record& record = records[index];
    *event++ = {record.timestamp, record.root, cells + record.first_cell};
    stored.deepest = std::max(stored.deepest, record.depth);
  }
  stored.first = history_.store(type).end();
  if (const EventType& known = rules_.schema().at(type); known.joint()) {
    join(known, stored);
    history_.append(type, stored.events);
  } else {
    append(type, stored);
  }
  rules_.add_to_panes(type, history_.store(type), stored.first);
  stored.matches = history_.settle(type, at_once_);
}

/// Appends events to the history, as many at a time as follow each other in columns, or have cells.
void HistoryWriter::append(TypeId type, const Stored& stored) {
  const Batch& batch = wave_.batch();
  const auto record = [&](std::size_t i) -> const Record& {
    return batch.records[stored.records[i]];
  };
  const std::size_t size = stored.records.size();
  for (std::size_t begin = 0, end = 0; begin < size; begin = end) {
    const Record& first = record(begin);
    end = begin + 1;
    while (end < size && record(end).in_columns == first.in_columns &&
           (!first.in_columns || record(end).row == first.row + (end - begin))) {
      ++end;
    }
    const auto events = std::span(stored.events).subspan(begin, end - begin);
    if (first.in_columns) {
      history_.append(type, events, batch.columns_of(type), first.row);
    } else {
      history_.append(type, events);
    }
  }
}

/// Gives the events of a joint type its cells, from those of their own types.
void HistoryWriter::join(const EventType& joint, Stored& stored) {
  const Batch& batch = wave_.batch();
  const std::size_t width = joint.attributes.size();
  stored.cells.resize(stored.records.size() * width);
  Datum* cells = stored.cells.data();
  for (std::size_t i = 0; i < stored.records.size(); ++i, cells += width) {
    const Record& record = batch.records[stored.records[i]];
    const auto member = std::ranges::find(joint.members, record.type, &JointMember::type);
    for (std::size_t a = 0; a + 1 < width; ++a) {
      cells[a] = batch.value_of(record, member->attributes[a]);
    }
    cells[width - 1] = Datum::of(std::int64_t{member - joint.members.begin()});
    stored.events[i].cells = cells;
  }
}

/// All threads do the chores that storing has left, while one of them queues the terminators.
void HistoryWriter::queue_terminators(std::span<const TypeId> types) {
  chores_.clear();
  for (const TypeId type : types) {
    for (const history::Chore& chore : history_.chores(type)) chores_.push_back(&chore);
  }
  const auto queue_all = [&] {
    for (const TypeId type : types) queue_terminators(type);
  };
  if (chores_.empty()) return queue_all();
  workers_.run(1 + chores_.size(),
               [&](std::size_t i) { i > 0 ? (*chores_[i - 1])() : queue_all(); });
}

void HistoryWriter::queue_terminators(TypeId type) {
  const Stored& stored = stored_[type];
  if (stored.deepest >= max_depth_) mark_too_deep(type);
  queues_.add(stored.matches, stored.first, stored.records);
}

/// Whether the record, which may be stored in joint types too, is counted here.
bool HistoryWriter::counts_depth(TypeId type, const Record& record) const {
  if (type == record.type) return true;
  return !history_.keeps(record.type) && type == rules_.types().joints_of(record.type).front();
}

void HistoryWriter::mark_too_deep(TypeId type) {
  const Stored& stored = stored_[type];
  const Batch& batch = wave_.batch();
  for (std::size_t i = 0; i < stored.records.size(); ++i) {
    const Record& record = batch.records[stored.records[i]];
    if (record.depth < max_depth_) continue;
    if (counts_depth(type, record)) limit_.drop_too_deep(batch, record);
    history_.mark_too_deep(type, stored.first + i);
  }
}

}  // namespace gorgo::dispatch
