#include "history/event_store.hpp"

#include <algorithm>
#include <cassert>

namespace gorgo::history {

EventStore::EventStore(const EventType& type) : nullable_(!type.strict()) {
  for (const auto& attribute : type.attributes) {
    attributes_.emplace_back(attribute.type, nullable_, 0);
  }
}

void EventStore::append_times(std::span<const NewEvent> events) {
  Timestamp* const timestamps = timestamps_.grow(events.size());
  std::uint64_t* const roots = roots_.grow(events.size());
  Timestamp latest = latest_;
  for (std::size_t i = 0; i < events.size(); ++i) {
    const Timestamp timestamp = events[i].timestamp;
    if (timestamp < latest) ++late_;
    latest = std::max(latest, timestamp);
    timestamps[i] = timestamp;
    roots[i] = events[i].root;
  }
  latest_ = latest;
}

Slot EventStore::append(std::span<const NewEvent> events, std::span<const EventColumn> columns,
                        std::uint32_t first) {
  const Slot slot = end();
  const auto count = static_cast<std::uint32_t>(events.size());
  append_times(events);
  for (std::size_t index = 0; index < attributes_.size(); ++index) {
    const EventColumn& column = columns[index];
    std::string_view text;
    if (column.type == ValueType::string) {
      const std::uint32_t begin = column.begin_of(first), end = column.begin_of(first + count);
      const auto* const bytes = reinterpret_cast<const char*>(column.bytes.data());
      if (begin < end) text = strings_.add({bytes + begin, end - begin}, slot + count - 1);
    }
    attributes_[index].append(column, first, count, text.data());
  }
  return slot;
}

Slot EventStore::append(std::span<const NewEvent> events) {
  const Slot first = end();
  append_times(events);
  for (std::size_t index = 0; index < attributes_.size(); ++index) {
    attributes_[index].append(
        events.size(), [&](std::size_t i) -> const Datum& { return events[i].cells[index]; },
        [&](std::string_view text, std::size_t i) { return strings_.add(text, first + i); });
  }
  return first;
}

void EventStore::restore(const Marks& marks) {
  timestamps_.start_at(marks.begin);
  roots_.start_at(marks.begin);
  for (auto& attribute : attributes_) attribute.start_at(marks.begin);
  reserve(marks.end - marks.begin);
  too_deep_.assign(marks.too_deep.begin(), marks.too_deep.end());
  horizon_ = marks.horizon;
  again_ = marks.again;
}

/// Makes room for so many events and those that come next: a vector that grows by halves would have
/// the kernel clear three times its pages. Room that is not used costs no memory. It is bounded,
/// because the count comes from a file.
void EventStore::reserve(std::uint64_t events) {
  constexpr std::uint64_t kMost = std::uint64_t{1} << 25;
  const std::size_t room = std::min(events + events / 4, kMost);
  timestamps_.reserve(room);
  roots_.reserve(room);
  for (auto& attribute : attributes_) attribute.reserve(room);
}

void EventStore::restore_late(std::uint64_t late, Timestamp latest) {
  late_ = late;
  latest_ = latest;
}

std::size_t EventStore::drop_until(Timestamp timestamp) {
  horizon_ = std::max(horizon_, timestamp);
  // A late event may stand behind later ones; it goes when they have gone.
  Slot slot = begin();
  while (slot < end() && timestamps_[slot] <= timestamp) ++slot;
  const std::size_t dropped = slot - begin();
  if (dropped > 0) drop_before(slot, Spare::kept);
  return dropped;
}

Slot EventStore::append_again(Slot slot) {
  const std::uint64_t late = late_;
  std::vector<std::string> texts;  // a store may move its strings while it takes in others
  std::vector<Datum> cells;
  for (std::uint32_t i = 0; i < attributes(); ++i) {
    cells.push_back(attribute(slot, i));
    if (cells.back().exists() && attribute_type(i) == ValueType::string) {
      texts.emplace_back(cells.back().text());
    }
  }
  std::size_t text = 0;
  for (Datum& cell : cells) {
    if (cell.tag == Datum::Tag::string) cell = Datum::of(std::string_view(texts[text++]));
  }
  const Slot again = append(timestamp(slot), root(slot), cells);
  late_ = late;
  ++again_;
  return again;
}

void EventStore::drop_before(Slot slot, Spare spare) {
  timestamps_.drop_before(slot, spare);
  roots_.drop_before(slot, spare);
  for (auto& attribute : attributes_) attribute.drop_before(slot, spare);
  strings_.drop_before(slot);
  while (!too_deep_.empty() && too_deep_.front() < slot) too_deep_.pop_front();
}

void EventStore::give_back_spare() {
  timestamps_.give_back_spare();
  roots_.give_back_spare();
  for (auto& attribute : attributes_) attribute.give_back_spare();
  strings_.give_back_spare();
}

AttributeVector EventStore::make_attribute(std::uint32_t index,
                                           std::uint64_t first_position) const {
  return {attributes_[index].type(), nullable_, first_position};
}

std::size_t EventStore::bytes() const {
  std::size_t total =
      timestamps_.bytes() + roots_.bytes() + strings_.bytes() + too_deep_.size() * sizeof(Slot);
  for (const auto& attribute : attributes_) total += attribute.bytes();
  return total;
}

}  // namespace gorgo::history
