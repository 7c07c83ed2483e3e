#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string_view>

namespace gorgo::history {

/// The bytes of stored strings, in chunks that are freed when all their strings are gone, but for
/// one of moderate size, which is kept for the next strings. Addresses are stable until then.
class StringHeap {
 public:
  /// Copies `text` for the use of row `row`. Rows come in about ascending order: what is added
  /// between earlier and later ones stays as long as these.
  std::string_view add(std::string_view text, std::uint64_t row);
  /// Frees the chunks that only rows before `row` use.
  void drop_before(std::uint64_t row);
  void clear();
  /// Frees the chunk that is kept for the next strings.
  void give_back_spare() { spare_ = {}; }
  std::size_t bytes() const;

 private:
  struct Chunk {
    std::unique_ptr<char[]> data;
    std::size_t capacity = 0;
    std::size_t used = 0;
    std::uint64_t last_row = 0;
  };
  static constexpr std::size_t kSmallest = 1024;
  static constexpr std::size_t kLargest = 64 * 1024;
  static constexpr std::size_t kLargestSpare = 1024 * 1024;

  void drop_front();
  void add_chunk(std::size_t bytes);

  std::deque<Chunk> chunks_;
  Chunk spare_;
};

}  // namespace gorgo::history
