#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "gorgo/event_batch.hpp"
#include "gorgo/value.hpp"

/// Has a function compiled once more for the vector units of newer processors; the loader picks a
/// version.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_THREAD__)
#define GORGO_VECTOR_CLONES __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define GORGO_VECTOR_CLONES
#endif

namespace gorgo::bench {

inline constexpr std::size_t kMaxColumns = 8;

/// The events of one type in time order, one array per attribute.
class Columns {
 public:
  explicit Columns(std::size_t attributes) : attributes_(attributes), columns_(attributes) {}

  /// Precondition: all attributes of the event are floats.
  void push(const EventTable& table, std::uint32_t row) {
    timestamps_.push_back(table.timestamps[row]);
    for (std::size_t i = 0; i < attributes_; ++i) {
      columns_[i].push_back(table.columns[i].floats[row]);
    }
  }
  /// Positions stay valid until this is called.
  void drop_until(Timestamp timestamp) {
    const auto drop = static_cast<std::ptrdiff_t>(newer(timestamp));
    if (drop * 4 < static_cast<std::ptrdiff_t>(timestamps_.size())) return;
    timestamps_.erase(timestamps_.begin(), timestamps_.begin() + drop);
    for (auto& column : columns_) column.erase(column.begin(), column.begin() + drop);
  }
  /// The first position behind this timestamp, and the first not before it.
  std::size_t newer(Timestamp timestamp) const {
    return static_cast<std::size_t>(std::ranges::upper_bound(timestamps_, timestamp) -
                                    timestamps_.begin());
  }
  std::size_t not_before(Timestamp timestamp) const {
    return static_cast<std::size_t>(std::ranges::lower_bound(timestamps_, timestamp) -
                                    timestamps_.begin());
  }
  const std::vector<double>& column(std::size_t attribute) const { return columns_[attribute]; }
  Timestamp timestamp(std::size_t position) const { return timestamps_[position]; }
  std::size_t size() const { return timestamps_.size(); }
  std::size_t bytes() const {
    return timestamps_.capacity() * sizeof(Timestamp) +
           attributes_ * columns_[0].capacity() * sizeof(double);
  }

 private:
  std::size_t attributes_;
  std::vector<Timestamp> timestamps_;
  std::vector<std::vector<double>> columns_;
};

using Pointers = std::array<const double*, kMaxColumns>;
using Parameters = std::array<double, kMaxColumns + 1>;

/// One terminator's question: which events at the positions [begin, end) pass?
struct Query {
  Timestamp timestamp;  ///< of the terminator
  Parameters parameters;
  std::size_t begin, end;
};

/// How many of `count` events pass, beginning at the pointers. Its loop must be one that compilers
/// vectorise.
using CountPasses = std::size_t (*)(const Pointers& columns, std::size_t count,
                                    const Parameters& parameters);

/// Calls `f(query, position)` for every event that passes. All queries look at one block of events
/// before any looks at the next, so the block comes from the nearest cache.
template <class F>
void scan(const Columns& columns, std::size_t attributes, std::span<const Query> queries,
          CountPasses passes, F&& f) {
  constexpr std::size_t kBlock = 1024;
  if (queries.empty()) return;
  std::size_t first = columns.size(), last = 0;
  for (const Query& query : queries) {
    first = std::min(first, query.begin);
    last = std::max(last, query.end);
  }
  const auto pointers = [&](std::size_t position) {
    Pointers at{};
    for (std::size_t i = 0; i < attributes; ++i) at[i] = columns.column(i).data() + position;
    return at;
  };
  for (std::size_t block = first; block < last; block += kBlock) {
    for (const Query& query : queries) {
      const std::size_t begin = std::max(block, query.begin);
      const std::size_t end = std::min(block + kBlock, query.end);
      if (begin >= end) continue;
      std::size_t found = passes(pointers(begin), end - begin, query.parameters);
      for (std::size_t i = begin; found > 0; ++i) {
        if (passes(pointers(i), 1, query.parameters) == 0) continue;
        f(query, i);
        --found;
      }
    }
  }
}

}  // namespace gorgo::bench
