#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/arithmetic.hpp"
#include "dispatch/order/header.hpp"
#include "dispatch/order/released.hpp"
#include "gorgo/diagnostics.hpp"
#include "gorgo/event.hpp"
#include "gorgo/processor.hpp"
#include "gorgo/schema.hpp"

namespace gorgo::dispatch {

/// Checks publications against the schema, stamps them, and releases them in one order
/// (language.md §9).
class Sequencer {
 public:
  struct Options {
    std::function<Timestamp()> clock;   ///< stamps events
    std::optional<Duration> max_ahead;  ///< unset: any timestamp may come
    Duration lateness = 0;
    Duration max_late = 0;
  };

  /// Events of one type that stood behind the clock.
  struct LateCounts {
    std::uint64_t late = 0;      // released
    std::uint64_t too_late = 0;  // refused
  };

  /// Counts late events into `counters`, which must outlive it.
  Sequencer(Options options, ProcessorCounters& counters)
      : options_(std::move(options)), counters_(counters) {}

  /// To be called before what comes at one time, for which one reading of the clock may do.
  void begin() { farthest_ = std::numeric_limits<Timestamp>::min(); }
  /// Whether each event is held back until those before it have come.
  bool holds() const { return options_.lateness > 0; }
  /// Makes room for the counts of a type. To be called before its events are released by `release`.
  void prepare(TypeId type);
  /// Whether an event with this timestamp is accepted: it is neither too late nor ahead of the
  /// clock. Precondition of this and of those below: not `holds`.
  bool accepts(Timestamp timestamp) {
    return !is_too_late(timestamp, released_) && !is_ahead(timestamp);
  }
  /// How many of these, from the first on, are accepted if they come one behind the other.
  std::size_t accepted(std::span<const Timestamp> timestamps);
  /// The timestamps that so many events without one get that come together.
  void stamp_together(std::size_t events, std::vector<Timestamp>& into) const;
  /// Takes note that an event is released, which was accepted or stamped.
  void release(TypeId type, Timestamp timestamp, bool stamped) {
    stamps_ = stamped;
    count_release(type, timestamp);
  }
  /// Takes note of several such events of one type.
  void release(TypeId type, std::span<const Timestamp> timestamps, bool stamped);
  /// The largest timestamp so far. Precondition: an event was released.
  Timestamp released() const { return *released_; }
  /// Accepts an event, or refuses it and leaves everything as it was, also where it throws
  /// bad_alloc. Releases what is due. A cell without a value is an absent attribute.
  Result<void> admit(const std::shared_ptr<Header>& header, std::optional<Timestamp> timestamp,
                     const Datum* first_cell, const Schema& schema, Released& released);
  /// Releases what is held up to the timestamp, then the tick.
  Result<void> tick(Timestamp timestamp, const Schema& schema, Released& released);
  /// Releases everything that is held.
  void flush(const Schema& schema, Released& released);

  /// What it has to know to go on, but for the events that are held.
  struct Marks {
    std::optional<Timestamp> received, released;
    bool stamps = false;
    std::vector<LateCounts> late;  ///< by TypeId
  };
  Marks marks() const { return {received_, released_, stamps_, late_}; }
  /// Precondition: nothing was admitted yet.
  void restore(Marks marks);
  /// Calls `f(timestamp, header, cells)` for each event that is held, in the order of release.
  template <class F>
  void for_each_held(F&& f) const {
    for (const auto& [timestamp, held] : held_) f(timestamp, *held.header, std::span(held.cells));
  }
  /// Holds an event that was held before. `header` is resolved, and each of its columns has a cell.
  void restore_held(const std::shared_ptr<Header>& header, Timestamp timestamp,
                    const Datum* cells) {
    keep(header, timestamp, cells);
  }

  std::size_t held() const { return held_.size(); }
  /// The least timestamp of what is held.
  std::optional<Timestamp> first_held() const;
  /// Whether the newest accepted event was stamped here.
  bool stamps() const { return stamps_; }
  /// The time up to which input that is stamped here is complete: the clock's, less the lateness.
  Timestamp now() const;
  /// The counts of a type of the schema.
  LateCounts late(TypeId type) const { return type < late_.size() ? late_[type] : LateCounts(); }

 private:
  struct Held {
    std::shared_ptr<Header> header;
    std::vector<Datum> cells;  // by column of the header
    std::vector<char> text;    // bytes of the strings in `cells`, end to end
  };

  /// `known`: the schema's type of the event, or null.
  Result<Timestamp> stamp(std::string_view type, const EventType* known,
                          std::optional<Timestamp> timestamp);
  Timestamp next_stamp() const;
  bool is_too_late(Timestamp timestamp, std::optional<Timestamp> released) const {
    return released && timestamp < arithmetic::saturating_subtract(*released, options_.max_late);
  }
  Error refuse_late(std::string_view type, const EventType* known, Timestamp timestamp);
  bool is_direct(const EventType& type, const Datum* cells) const;
  Result<void> admit_direct(const EventType& type, std::optional<Timestamp> timestamp,
                            const Datum* cells, Released& released);
  /// Reads the clock only where what it last said does not tell.
  bool is_ahead(Timestamp timestamp) {
    return options_.max_ahead && timestamp > farthest_ && is_farther(timestamp);
  }
  bool is_farther(Timestamp timestamp);
  std::size_t accepted_behind(Timestamp& last, std::span<const Timestamp> timestamps);
  Error refuse_ahead(const std::string& what, Timestamp timestamp) const;
  Result<void> hold(const std::shared_ptr<Header>& header, const EventType* known,
                    Timestamp timestamp, const Datum* cells);
  void keep(const std::shared_ptr<Header>& header, Timestamp timestamp, const Datum* cells);
  void release_due(const Schema& schema, Released& released);
  void release_until(Timestamp timestamp, const Schema& schema, Released& released);
  void release(const Held& held, Timestamp timestamp, const Schema& schema, Released& released);
  void count_release(TypeId type, Timestamp timestamp) {
    if (released_ && timestamp < *released_) return count_late(type, 1);
    released_ = timestamp;
  }
  void count_late(TypeId type, std::uint64_t events);

  Options options_;
  ProcessorCounters& counters_;
  std::optional<Timestamp> received_;    // the largest; kept where events are held
  std::optional<Timestamp> released_;    // the largest
  std::multimap<Timestamp, Held> held_;  // equal timestamps in order of receipt
  // By TypeId. A publisher cannot make it grow, because types that only publishers name have no
  // TypeId.
  std::vector<LateCounts> late_;
  bool stamps_ = false;
  Timestamp farthest_ = std::numeric_limits<Timestamp>::min();  // that is not ahead of the clock
  Released probe_;  // scratch: checks an event that will be held
};

}  // namespace gorgo::dispatch
