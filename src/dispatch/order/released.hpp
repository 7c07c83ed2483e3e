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
  struct Item {
    TypeId type = kNoType;
    Timestamp timestamp = 0;
    std::uint32_t first_cell = 0;  ///< attributes of the type in order, then the extra ones
    std::uint32_t cells = 0;
    std::uint32_t extras = OutputBatch::kNoExtras;  ///< index of the names of the extra ones
    bool tick = false;                              ///< a timestamp without an event
  };

  std::vector<Item> items;
  std::vector<Datum> cells;
  history::StringHeap strings;                               ///< bytes of the strings in `cells`
  AllExtras extras;                                          ///< each set of names once
  std::unordered_map<const Extras*, std::uint32_t> numbers;  ///< the index of each in `extras`
  std::size_t bytes = 0;  ///< bytes that all of it takes, see `Processor::pending_bytes`

  /// The index of these names, which may be null, among `extras`.
  std::uint32_t number_of(const std::shared_ptr<const Extras>& names);
  void clear();
};

}  // namespace gorgo::dispatch
