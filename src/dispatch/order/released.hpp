#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "dispatch/evaluate/batch.hpp"
#include "gorgo/processor.hpp"
#include "gorgo/schema.hpp"
#include "gorgo/value.hpp"
#include "history/string_heap.hpp"

namespace gorgo::dispatch {

/// Released events and ticks on their way to evaluation, in order of release.
struct Released {
  std::vector<Record> records;
  std::vector<Datum> cells;     ///< of the records, in their order and without gaps
  history::StringHeap strings;  ///< bytes of the strings in `cells`
  AllExtras extras;             ///< each set of names once
  std::unordered_map<const Extras*, std::uint32_t> numbers;  ///< the index of each in `extras`
  std::size_t bytes = 0;  ///< bytes that all of it takes, see `Processor::pending_bytes`

  /// The index of these names, which may be null, among `extras`.
  std::uint32_t number_of(const std::shared_ptr<const Extras>& names);
  void add_tick(Timestamp timestamp) {
    records.push_back({.tick = true,
                       .timestamp = timestamp,
                       .first_cell = static_cast<std::uint32_t>(cells.size())});
  }
  /// Where the cells of the records before this one end.
  std::uint32_t cells_before(std::size_t record) const {
    return record < records.size() ? records[record].first_cell
                                   : static_cast<std::uint32_t>(cells.size());
  }
  void clear();
};

}  // namespace gorgo::dispatch
