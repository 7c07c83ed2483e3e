#pragma once

#include <cstdint>

#include "base/exact_sum.hpp"
#include "gorgo/value.hpp"
#include "history/event_store.hpp"
#include "history/range.hpp"

namespace gorgo::history {

/// What some values are together.
struct Summary {
  ExactSum sum;  ///< of the floats
  Datum least;   ///< value that is no NaN; no value if there is none
  Datum greatest;
};

/// The events of one key, in (timestamp, place) order. Valid until the next change of the index.
/// The events stand one behind the other in memory, because taking one in and finding the newest
/// touch one end. The words of an event are the timestamp, the slot, the running sums up to and
/// with the event, modulo 2^64, and the values of some attributes.
class Posting {
 public:
  /// Events that are summarised together: the first so many, the next so many, and so on.
  static constexpr std::uint64_t kGroup = 64;

  Posting() = default;
  Posting(const std::uint64_t* words, std::size_t stride, std::uint64_t size)
      : words_(words), stride_(stride), size_(size) {}

  Timestamp timestamp(std::uint64_t index) const {
    return static_cast<Timestamp>(words_[index * stride_]);
  }
  Slot slot(std::uint64_t index) const { return words_[index * stride_ + 1]; }
  /// What the attribute of running sums `sum` adds up to over the events of the range.
  std::uint64_t sum(std::uint32_t sum, Range range) const {
    if (range.empty()) return 0;
    const std::uint64_t before = range.first == 0 ? 0 : word(sum, range.first - 1);
    return word(sum, range.last - 1) - before;
  }
  /// Word `column` behind the slot: a running sum or a value.
  std::uint64_t word(std::uint32_t column, std::uint64_t index) const {
    return words_[index * stride_ + 2 + column];
  }
  /// The indices with `after < timestamp < before`.
  Range window(Timestamp after, Timestamp before) const;
  /// The first index whose timestamp is above this one. Fast where few events stand behind it.
  std::uint64_t first_after_near_end(Timestamp timestamp) const;

 private:
  /// The first index of `within` that `is_beyond` holds for; it holds for all behind, too.
  template <class F>
  std::uint64_t partition_point(Range within, F&& is_beyond) const;
  /// The first index of all. Fast where few stand behind it.
  template <class F>
  std::uint64_t first_near_end(F&& is_beyond) const;

  friend class KeyTable;

  const std::uint64_t* words_ = nullptr;
  std::size_t stride_ = 0;
  std::uint64_t size_ = 0;
};

}  // namespace gorgo::history
