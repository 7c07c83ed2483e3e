#pragma once

#include <bit>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "engine/window.hpp"
#include "history/column.hpp"
#include "history/evaluate.hpp"
#include "plan/plan.hpp"

namespace gorgo::engine {

/// Finds the events of one predicate in one window of its column: compares the column's attributes
/// in blocks of 64 positions and tests what remains event by event. Has one scan in hand at a time.
class Scanner {
 public:
  /// `scan` must outlive the scanner.
  Scanner(const plan::Scan& scan, std::shared_ptr<const history::Column> column)
      : scan_(scan), column_(std::move(column)), operands_(scan.comparisons.size()) {}

  const history::Column& column() const { return *column_; }
  const std::shared_ptr<const history::Column>& shared_column() const { return column_; }
  history::EventRef event(std::uint64_t position) const {
    return {&column_->store(), column_->slot(position)};
  }

  /// Starts a scan for the sequence: evaluates the operands, finds the window. The range is empty
  /// when nothing can match. `sequence` must stay as it is during the scan.
  history::Range start(Interval interval, std::span<const history::EventRef> sequence);

  /// Calls `f(position)` for the matching positions of the range in ascending (or descending)
  /// order until it returns false. Returns whether it ran to the end.
  template <class F>
  bool ascending(history::Range range, F&& f) const;
  template <class F>
  bool descending(history::Range range, F&& f) const;

 private:
  static constexpr std::uint64_t kBlock = 64;

  /// Bit i tells whether position `first + i` passes the comparisons, for `count` <= 64 positions.
  std::uint64_t matches(std::uint64_t first, std::uint64_t count) const;
  bool passes_residual(std::uint64_t position) const {
    return scan_.residual.empty() ||
           history::all_hold(scan_.residual,
                             {.candidate = event(position), .states = sequence_, .aggregates = {}});
  }

  const plan::Scan& scan_;
  std::shared_ptr<const history::Column> column_;
  std::vector<Datum> operands_;
  std::span<const history::EventRef> sequence_;
};

template <class F>
bool Scanner::ascending(history::Range range, F&& f) const {
  for (std::uint64_t first = range.first; first < range.last; first += kBlock) {
    std::uint64_t mask = matches(first, std::min(kBlock, range.last - first));
    for (; mask != 0; mask &= mask - 1) {
      const std::uint64_t position = first + static_cast<unsigned>(std::countr_zero(mask));
      if (passes_residual(position) && !f(position)) return false;
    }
  }
  return true;
}

template <class F>
bool Scanner::descending(history::Range range, F&& f) const {
  for (std::uint64_t last = range.last; last > range.first;) {
    const std::uint64_t first = last - std::min(kBlock, last - range.first);
    std::uint64_t mask = matches(first, last - first);
    while (mask != 0) {
      const auto bit = static_cast<unsigned>(63 - std::countl_zero(mask));
      mask ^= std::uint64_t{1} << bit;
      if (passes_residual(first + bit) && !f(first + bit)) return false;
    }
    last = first;
  }
  return true;
}

}  // namespace gorgo::engine
