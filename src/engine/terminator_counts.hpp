#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>

#include "gorgo/rule.hpp"
#include "history/event_store.hpp"

namespace gorgo::engine {

/// How far a rule with `every` has counted the events that satisfy its state 0, by key (language.md
/// §4). A key takes memory while the events since its last terminator are counted, and so none
/// while there are none.
class TerminatorCounts {
 public:
  /// Counts an event. Returns whether it is a terminator, with which its key begins anew. To be
  /// called in place order. Precondition: the event has the attributes of the key.
  bool count(const Every& every, history::EventRef event);
  /// Undoes `count` of an event, which the events of its key that were counted later must have been
  /// undone before. Returns which of the events of its key it was, from 1 to `every.events`: the
  /// last one is the terminator.
  std::uint64_t take_back(const Every& every, history::EventRef event);

  /// Calls `f(key, events)` for each key with events since its last terminator, in no order.
  template <class F>
  void for_each(F&& f) const {
    for (const auto& [key, events] : events_) f(key, events);
  }
  void restore(std::string key, std::uint64_t events) { events_.emplace(std::move(key), events); }

  /// An estimate: a node, its bucket and what it owns.
  std::size_t bytes() const;

 private:
  void read_key(const Every& every, history::EventRef event);

  std::unordered_map<std::string, std::uint64_t> events_;  // since the last terminator, from 1 on
  std::string key_;                                        // of the event in hand
};

}  // namespace gorgo::engine
