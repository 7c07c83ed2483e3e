#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/window.hpp"
#include "history/event_store.hpp"
#include "history/sliding_vector.hpp"

namespace gorgo::engine {

/// Partial sequences over the same states, in the order of their newest events, so that those whose
/// window has passed are the first; those with the same hash of their key are chained.
class PartialSequences {
 public:
  /// `states`: how many events each consists of.
  explicit PartialSequences(std::size_t states) : states_(states) {}

  std::uint64_t size() const { return items_.size(); }

  /// `newest`: the timestamp of its newest event, not below those added before.
  void add(Timestamp newest, std::span<const history::Slot> events, std::uint64_t hash);
  /// Drops the partial sequences whose newest event is not later than `timestamp`.
  void drop_until(Timestamp timestamp);
  void clear() { *this = PartialSequences(states_); }

  /// The events of a partial sequence, one per state. Precondition: it was not dropped.
  std::span<const history::Slot> events(std::uint64_t position) const {
    return {events_.at(position * states_), states_};
  }
  /// Calls `f(position)` for those with this hash and their newest event in the interval, from the
  /// newest on, until it returns false. `f` must not change these partial sequences.
  template <class F>
  void newest_first(std::uint64_t hash, Interval interval, F&& f) const;

  std::size_t bytes() const {
    return items_.bytes() + events_.bytes() + latest_.capacity() * sizeof(std::uint64_t);
  }

 private:
  struct Item {
    Timestamp newest;
    std::uint64_t hash;
    std::uint64_t previous;  ///< 1 + position of the one before in its bucket; may be dropped
  };

  std::uint64_t bucket(std::uint64_t hash) const { return hash & (latest_.size() - 1); }
  void grow();

  std::size_t states_;
  history::SlidingVector<Item> items_;
  history::SlidingVector<history::Slot> events_;
  std::vector<std::uint64_t> latest_;  // by bucket, a power of two: 1 + position of the last
};

template <class F>
void PartialSequences::newest_first(std::uint64_t hash, Interval interval, F&& f) const {
  if (latest_.empty()) return;
  for (std::uint64_t next = latest_[bucket(hash)]; next > items_.begin();) {
    const Item& item = items_[next - 1];
    if (item.newest <= interval.after) return;
    if (item.hash == hash && item.newest < interval.before && !f(next - 1)) return;
    next = item.previous;
  }
}

}  // namespace gorgo::engine
