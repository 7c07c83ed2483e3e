#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>

#include "engine/cuda/mirror_context.hpp"
#include "engine/cuda/word_source.hpp"

namespace gorgo::engine {

/// A word for each position of a mirror, on the device in pages that come and go one by one. A page
/// that comes back is copied from pinned memory, where it gets a copy when it first comes back.
/// Whoever calls, and whoever destroys it, holds the context's mutex.
class PagedVector {
 public:
  /// Says which words there are; both must outlive the vector.
  PagedVector(const MirrorContext& mirror, WordSource& source);
  ~PagedVector();
  PagedVector(const PagedVector&) = delete;
  PagedVector& operator=(const PagedVector&) = delete;

  // The mirror's positions change as follows.

  /// Follows an append.
  void extend() { pages_.resize(mirror_.positions.page_count()); }
  /// Drops the pages before this one.
  void drop_before(std::uint64_t page);
  /// Follows the loss of the positions from this one on.
  void drop_from(std::uint64_t position);

  /// Makes these pages take part in the pool's round, and loads those that are not there. Throws
  /// DeviceError.
  void need(PageRange pages);
  /// Whether these pages are there, up to date.
  bool has(PageRange pages) const;
  /// How many of these pages are not there.
  std::size_t absent(PageRange pages) const;
  /// How many of the absent ones could come before their step: full ones of constant words.
  std::size_t missing(PageRange pages) const;
  /// Begins to fetch the first `most` of those that `missing` counts. Returns how many.
  /// Precondition: there is room.
  std::size_t prefetch(PageRange pages, std::size_t most);
  /// Uploads a single word if its page is there and has the position. Throws DeviceError.
  void overwrite(std::uint64_t position, const std::uint64_t& word);

  std::size_t size() const { return pages_.size(); }
  /// Writes the frame of each page. Names any frame where there is none: no search looks at it, but
  /// threads may load from it.
  void write_table(std::uint32_t* to) const;

  /// Gives every page back.
  void evict();
  /// For the pool: gives one page back, and says in which step it is needed next.
  void evict(std::uint64_t page);
  std::uint64_t needed_in(std::uint64_t page) const { return mirror_.schedule.needed_in(page); }

 private:
  static constexpr std::uint32_t kAbsent = ~std::uint32_t{0};

  struct Page {
    std::uint32_t frame = kAbsent;
    bool was_there = false;
    std::uint64_t written = 0;      // up to this position, if it is there
    std::uint64_t* copy = nullptr;  // in pinned memory
    std::uint64_t copied = 0;       // up to this position, if there is a copy
  };

  Page& page(std::uint64_t number) { return pages_[number - mirror_.positions.first_page()]; }
  const Page& page(std::uint64_t number) const {
    return pages_[number - mirror_.positions.first_page()];
  }
  void forget(Page& page);
  void load(std::uint64_t number);
  void fetch(std::uint64_t number);
  void write(std::uint64_t number, std::uint64_t first);
  std::span<const std::uint64_t> words(std::uint64_t first, std::uint64_t last) {
    return source_.words(first, last, mirror_.scratch);
  }

  const MirrorContext& mirror_;
  WordSource& source_;
  std::deque<Page> pages_;  // from the mirror's first one on
};

}  // namespace gorgo::engine
