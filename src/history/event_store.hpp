#pragma once

#include <algorithm>
#include <deque>
#include <limits>
#include <span>
#include <vector>

#include "gorgo/schema.hpp"
#include "history/attribute_vector.hpp"
#include "history/string_heap.hpp"

namespace gorgo::history {

/// Number of an event within its type, in order of release; never reused.
using Slot = std::uint64_t;

/// An event to be stored.
struct NewEvent {
  Timestamp timestamp = 0;
  std::uint64_t root = 0;        ///< see EventStore::root
  const Datum* cells = nullptr;  ///< the type's attributes in order, of the declared types
};

/// Every remembered event of one type, once, column by column, in order of release: a late event
/// stands behind later ones. One thread appends and drops while nobody reads; any number of threads
/// read in between.
class EventStore {
 public:
  explicit EventStore(const EventType& type);

  /// What a store knows besides its events.
  struct Marks {
    Slot begin = 0;
    Slot end = 0;  ///< >= begin; room is made at once for the events up to here
    Timestamp horizon = std::numeric_limits<Timestamp>::min();
    std::vector<Slot> too_deep;
    std::uint64_t again = 0;  ///< slots of events that were stored again
  };
  /// Begins where another store began. Its events are to be appended, then `restore_late` called.
  /// Precondition: empty and never used.
  void restore(const Marks& marks);
  void restore_late(std::uint64_t late, Timestamp latest);

  Slot begin() const { return timestamps_.begin(); }
  Slot end() const { return timestamps_.end(); }
  /// How many events have come so far.
  std::uint64_t count() const { return end() - again_; }
  /// How many slots events took that were stored again.
  std::uint64_t again() const { return again_; }

  /// Stores events in this order, column by column. Strings are copied. Returns the first's slot.
  Slot append(std::span<const NewEvent> events);
  Slot append(Timestamp timestamp, std::uint64_t root, std::span<const Datum> cells) {
    const NewEvent event{timestamp, root, cells.data()};
    return append({&event, 1});
  }
  /// Stores events whose values stand in columns, one for each attribute, from the event `first`
  /// on. Their cells are not looked at. Precondition: each has all values.
  Slot append(std::span<const NewEvent> events, std::span<const EventColumn> columns,
              std::uint32_t first);
  /// Drops the events up to `timestamp`, except those that stand behind a later one. Returns how
  /// many. Their room is kept for those to come.
  std::size_t drop_until(Timestamp timestamp);
  /// Gives back room that no event is in.
  void give_back_spare();
  /// Stores an event again, at the end, as if it had been there all the time. Returns its new slot.
  Slot append_again(Slot slot);
  /// Drops the events with lower slots. No search structure may know of them.
  void drop_before(Slot slot, Spare spare = Spare::given_back);
  /// Events that are not later than this may be dropped, though a search structure may still know
  /// of them.
  Timestamp horizon() const { return horizon_; }

  /// The largest timestamp of all events so far.
  Timestamp latest() const { return latest_; }

  Timestamp timestamp(Slot slot) const { return timestamps_[slot]; }
  /// The timestamps and the roots from `slot` on.
  const Timestamp* timestamps(Slot slot) const { return timestamps_.at(slot); }
  const std::uint64_t* roots(Slot slot) const { return roots_.at(slot); }
  /// Number of the primitive event that released this one (`Place::root`).
  std::uint64_t root(Slot slot) const { return roots_[slot]; }
  /// Strings are valid until the event is dropped.
  Datum attribute(Slot slot, std::uint32_t index) const { return attributes_[index][slot]; }
  /// The values of one attribute, by slot.
  const AttributeVector& attribute_vector(std::uint32_t index) const { return attributes_[index]; }
  std::uint32_t attributes() const { return static_cast<std::uint32_t>(attributes_.size()); }
  /// Whether events may lack attributes.
  bool is_nullable() const { return nullable_; }
  ValueType attribute_type(std::uint32_t index) const { return attributes_[index].type(); }
  /// An empty vector for a copy of the attribute, counting from `first_position`.
  AttributeVector make_attribute(std::uint32_t index, std::uint64_t first_position) const;

  /// Notes that an event is too deep in a hierarchy to be a terminator. Slots ascend.
  void mark_too_deep(Slot slot) { too_deep_.push_back(slot); }
  const std::deque<Slot>& too_deep() const { return too_deep_; }
  bool is_too_deep(Slot slot) const {
    return std::binary_search(too_deep_.begin(), too_deep_.end(), slot);
  }

  /// How many events have been stored behind one with a later timestamp.
  std::uint64_t late() const { return late_; }

  std::size_t bytes() const;

 private:
  void reserve(std::uint64_t events);
  void append_times(std::span<const NewEvent> events);

  bool nullable_;
  SlidingVector<Timestamp> timestamps_;
  SlidingVector<std::uint64_t> roots_;
  std::vector<AttributeVector> attributes_;
  StringHeap strings_;
  std::deque<Slot> too_deep_;  // ascending
  Timestamp horizon_ = std::numeric_limits<Timestamp>::min();
  Timestamp latest_ = std::numeric_limits<Timestamp>::min();
  std::uint64_t late_ = 0;
  std::uint64_t again_ = 0;
};

/// An event by where it is stored.
struct EventRef {
  const EventStore* store = nullptr;
  Slot slot = 0;

  Timestamp timestamp() const { return store->timestamp(slot); }
  std::uint64_t root() const { return store->root(slot); }
};

/// The type that the event was published as, which is not `type` where that is a joint type.
inline TypeId own_type(const EventType& type, EventRef event) {
  if (!type.joint()) return type.id;
  const auto hidden = static_cast<std::uint32_t>(type.attributes.size() - 1);
  return type.members[static_cast<std::size_t>(event.store->attribute(event.slot, hidden).integer)]
      .type;
}

}  // namespace gorgo::history
