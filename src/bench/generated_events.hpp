#pragma once

#include <cstdint>
#include <deque>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "gorgo/value.hpp"

namespace gorgo::bench {

/// Generated events. The strings of its cells belong to it, or live as long as the source.
class GeneratedEvents {
 public:
  struct Row {
    std::uint32_t type;  ///< index into `Workload::types`
    Timestamp timestamp;
    std::size_t first_cell;
  };

  void add(std::uint32_t type, Timestamp timestamp) {
    rows_.push_back({type, timestamp, cells_.size()});
  }
  void add(std::uint32_t type, Timestamp timestamp, std::initializer_list<Datum> cells) {
    add(type, timestamp);
    cells_.insert(cells_.end(), cells);
  }
  /// One more cell of the event that was added last.
  void cell(const Datum& datum) { cells_.push_back(datum); }
  /// A string that lives until the batch is cleared.
  Datum text(std::string text) {
    return Datum::of(std::string_view(texts_.emplace_back(std::move(text))));
  }

  std::span<const Row> rows() const { return rows_; }
  std::size_t size() const { return rows_.size(); }
  std::span<const Datum> cells(std::size_t row) const {
    const std::size_t end = row + 1 < rows_.size() ? rows_[row + 1].first_cell : cells_.size();
    return std::span(cells_).subspan(rows_[row].first_cell, end - rows_[row].first_cell);
  }
  /// Takes away the event that was added last.
  void drop_last() {
    cells_.resize(rows_.back().first_cell);
    rows_.pop_back();
  }
  void clear() {
    rows_.clear();
    cells_.clear();
    texts_.clear();
  }

 private:
  std::vector<Row> rows_;
  std::vector<Datum> cells_;
  std::deque<std::string> texts_;
};

}  // namespace gorgo::bench
