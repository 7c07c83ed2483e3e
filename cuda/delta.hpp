#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "cuda/inline_upload.hpp"

namespace gorgo::gpu {

/// Where the staged words of a delta go. A device does its writes in any order, so no word may
/// stand in two of them.
class Delta {
 public:
  /// For an arena of so many pages of 2^page_shift words.
  Delta(std::uint32_t page_shift, std::uint32_t pages) : page_shift_(page_shift), written_(pages) {}

  /// Words staged.
  std::size_t size() const { return size_; }
  const std::vector<ArenaWrite>& writes() const { return writes_; }

  /// Whether what is staged has to be written before there is room for this.
  bool is_full(std::uint32_t page, std::uint32_t offset, std::size_t words) const {
    const bool again = written_[page].delta == number_ && offset < written_[page].end;
    return again || size_ + words > kMost;
  }
  /// Whether something is staged for a page.
  bool touches(std::uint32_t page) const { return written_[page].delta == number_; }
  /// Takes a write in, whose words are staged behind the others. Precondition: not full.
  void add(std::uint32_t page, std::uint32_t offset, std::size_t words) {
    assert(page < written_.size() && offset + words <= std::size_t{1} << page_shift_);
    assert(!is_full(page, offset, words));
    writes_.push_back(
        {.to = (std::uint64_t{page} << page_shift_) + offset, .from = size_, .count = words});
    size_ += words;
    written_[page] = {number_, static_cast<std::uint32_t>(offset + words)};
  }
  /// Begins a new delta.
  void clear() {
    size_ = 0;
    ++number_;
    writes_.clear();
  }

 private:
  static constexpr std::size_t kMost = std::size_t{1} << 21;

  /// Up to where a page was written, and in which delta. A delta writes a page upwards.
  struct Written {
    std::uint64_t delta = 0;
    std::uint32_t end = 0;
  };

  const std::uint32_t page_shift_;
  std::size_t size_ = 0;
  std::vector<ArenaWrite> writes_;
  std::vector<Written> written_;  // by page
  std::uint64_t number_ = 1;
};

}  // namespace gorgo::gpu
