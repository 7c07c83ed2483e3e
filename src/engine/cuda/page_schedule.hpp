#pragma once

#include <cstdint>
#include <deque>

#include "engine/cuda/mirrored_positions.hpp"
#include "engine/cuda/page_pool.hpp"

namespace gorgo::engine {

/// Which steps of a device need the pages of a column, as far as is known, and when the column was
/// used last.
class PageSchedule {
 public:
  static constexpr std::uint64_t kNever = ~std::uint64_t{0};

  explicit PageSchedule(const PagePool& pool) : pool_(pool) {}

  /// Says that a step needs these pages. Steps are named in their order.
  void expect(std::uint64_t step, PageRange pages) {
    while (!expected_.empty() && expected_.front().step < pool_.step()) expected_.pop_front();
    expected_.push_back({step, pages});
  }
  /// The first step from the pool's on that is known to need the page.
  std::uint64_t needed_in(std::uint64_t page) const {
    for (const Expected& expected : expected_) {
      if (expected.step >= pool_.step() && expected.pages.contains(page)) return expected.step;
    }
    return kNever;
  }

  /// Notes that the column takes part in the round.
  void use() { used_in_ = pool_.round(); }
  /// The round that the column took part in last.
  std::uint64_t used_in() const { return used_in_; }

 private:
  struct Expected {
    std::uint64_t step;
    PageRange pages;
  };

  const PagePool& pool_;
  std::deque<Expected> expected_;  // by step
  std::uint64_t used_in_ = 0;
};

}  // namespace gorgo::engine
