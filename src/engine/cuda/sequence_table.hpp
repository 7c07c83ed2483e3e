#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "gorgo/value.hpp"
#include "history/event_store.hpp"
#include "history/range.hpp"

namespace gorgo::engine {

/// The partial sequences of terminators up to some state. Each is a row: an event for each state,
/// the terminator first, and the values of aggregates, as far as they are known. Rows stand in the
/// order of their terminators and, within one, in the order of their events.
class SequenceTable {
 public:
  /// A row of the next state: a row of this one, and the event that is chosen for it.
  struct Extension {
    std::uint32_t row;
    std::uint64_t position;  ///< of the event in the state's timeline
    friend auto operator<=>(const Extension&, const Extension&) = default;
  };

  /// Has a row for each terminator, which are numbered from 0 on, with no event yet.
  SequenceTable(std::size_t terminators, std::size_t aggregates);

  std::size_t terminators() const { return overflowed_.size(); }
  std::size_t rows() const { return terminator_of_.size(); }
  /// How many events a row has.
  std::size_t width() const { return width_; }
  std::span<const history::EventRef> row(std::size_t number) const {
    return std::span(events_).subspan(number * width_, width_);
  }
  std::uint32_t terminator_of(std::size_t row) const { return terminator_of_[row]; }

  /// Whether a terminator has too many sequences.
  bool overflowed(std::uint32_t terminator) const { return overflowed_[terminator]; }
  void set_overflowed(std::uint32_t terminator) { overflowed_[terminator] = true; }
  /// Finds the terminators that get more than `most` rows.
  void limit(std::span<const Extension> extensions, std::uint64_t most);

  /// Replaces the rows by those of the next state, which stand in their order. Leaves out those of
  /// terminators with too many sequences. `event` gives the event at a position.
  template <class Event>
  void extend(std::span<const Extension> extensions, Event event);

  /// Makes room for the values of aggregates. Values that are not known do not exist.
  void add_values() { values_.resize(rows() * aggregates_); }
  void set_value(std::size_t aggregate, const history::Range& rows, const Datum& value);
  /// The values of a row. Precondition: there is room for values.
  std::span<const Datum> values(std::size_t row) const {
    return std::span(values_).subspan(row * aggregates_, aggregates_);
  }

  /// Finds the rows of each terminator. Call it when no more rows come.
  void index_terminators();
  /// Precondition: terminators are indexed.
  history::Range rows_of(std::uint32_t terminator) const {
    return {first_row_[terminator], first_row_[terminator + 1]};
  }

 private:
  const std::size_t aggregates_;
  std::size_t width_ = 0;
  std::vector<history::EventRef> events_;
  std::vector<std::uint32_t> terminator_of_;  // by row
  std::vector<Datum> values_;                 // by row; empty before there is room
  std::vector<bool> overflowed_;              // by terminator
  std::vector<std::uint64_t> counts_;         // by terminator: sequences, for `limit`
  std::vector<std::uint64_t> first_row_;      // by terminator, and their end
};

template <class Event>
void SequenceTable::extend(std::span<const Extension> extensions, Event event) {
  std::vector<history::EventRef> events;
  std::vector<Datum> values;
  std::vector<std::uint32_t> terminator_of;
  events.reserve(extensions.size() * (width_ + 1));
  terminator_of.reserve(extensions.size());
  for (const Extension& extension : extensions) {
    const std::uint32_t terminator = terminator_of_[extension.row];
    if (overflowed_[terminator]) continue;
    const auto before = row(extension.row);
    events.insert(events.end(), before.begin(), before.end());
    events.push_back(event(extension.position));
    if (!values_.empty()) {
      const auto known = this->values(extension.row);
      values.insert(values.end(), known.begin(), known.end());
    }
    terminator_of.push_back(terminator);
  }
  events_ = std::move(events);
  values_ = std::move(values);
  terminator_of_ = std::move(terminator_of);
  ++width_;
}

}  // namespace gorgo::engine
