#pragma once

#include <cstddef>

namespace gorgo::history {

/// Contiguous memory that grows, and that slides: pages in front which nobody needs any more become
/// the next ones behind. Pages move by having other addresses, so that nothing is copied, and a
/// range that slides takes no new pages from the kernel, which would clear them.
///
/// Sizes are multiples of `kPage`. New pages hold 0. Not thread-safe.
///
/// The addresses are a region with room behind the range. When the range comes to the end of the
/// region it moves to the beginning, or, when it has become too large, to a larger region. Where
/// the kernel cannot move a page, its content is copied.
class PageRange {
 public:
  /// A huge page, where the kernel has some.
  static constexpr std::size_t kPage = 2 * 1024 * 1024;

  /// The next multiple of a page.
  static constexpr std::size_t in_pages(std::size_t bytes) {
    return (bytes + kPage - 1) / kPage * kPage;
  }
  /// Where in its first page the next range is best begun: ranges that grow together then come to
  /// their next pages at different times.
  static std::size_t next_beginning();

  /// Throws bad_alloc, after the handler of `operator new` was asked in vain.
  explicit PageRange(std::size_t bytes);
  PageRange(const PageRange&) = delete;
  PageRange& operator=(const PageRange&) = delete;
  ~PageRange();

  /// Valid until the next change.
  std::byte* begin() const { return region_ + first_; }
  std::size_t size() const { return size_; }

  /// Gives it this size, which is larger than its own. When it throws bad_alloc, nothing has
  /// changed. A thread of its own takes the new pages from the kernel before they are written,
  /// because a huge page may take milliseconds.
  void grow(std::size_t bytes);
  /// Has so many bytes in front stand at the end, with any content. Returns whether there were
  /// addresses for them; where there were none, nothing has changed.
  bool turn(std::size_t bytes);
  /// Gives back so many bytes in front.
  void drop_front(std::size_t bytes);
  /// Gives back so many bytes at the end, and the addresses that are no longer needed.
  void drop_back(std::size_t bytes);
  /// Has the page at this place of the range taken from the kernel before it is written. A hint.
  void prepare(std::size_t place);

 private:
  bool has_room_for(std::size_t bytes) const { return first_ + bytes <= region_bytes_; }
  bool try_move_for(std::size_t bytes);
  void slide_down();
  bool try_relocate(std::size_t bytes);

  std::byte* region_ = nullptr;
  std::size_t region_bytes_ = 0;
  std::size_t first_ = 0;  // bytes of the region before the range, which hold no memory
  std::size_t size_ = 0;
};

}  // namespace gorgo::history
