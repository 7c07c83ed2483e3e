#include "history/string_heap.hpp"

#include <algorithm>
#include <utility>

namespace gorgo::history {

std::string_view StringHeap::add(std::string_view text, std::uint64_t row) {
  if (text.empty()) return {};
  if (chunks_.empty() || chunks_.back().capacity - chunks_.back().used < text.size()) {
    add_chunk(text.size());
  }
  Chunk& chunk = chunks_.back();
  char* const start = chunk.data.get() + chunk.used;
  std::copy(text.begin(), text.end(), start);
  chunk.used += text.size();
  chunk.last_row = std::max(chunk.last_row, row);
  return {start, text.size()};
}

/// Adds a chunk that has room for so many bytes.
void StringHeap::add_chunk(std::size_t bytes) {
  if (spare_.capacity >= bytes) {
    chunks_.push_back(std::exchange(spare_, {}));
    return;
  }
  const std::size_t grown = chunks_.empty() ? kSmallest : chunks_.back().capacity * 2;
  const std::size_t capacity = std::max(std::min(grown, kLargest), bytes);
  chunks_.push_back(
      {.data = std::make_unique_for_overwrite<char[]>(capacity), .capacity = capacity});
}

void StringHeap::drop_front() {
  Chunk& chunk = chunks_.front();
  if (chunk.capacity > spare_.capacity && chunk.capacity <= kLargestSpare) {
    spare_ = {.data = std::move(chunk.data), .capacity = chunk.capacity};
  }
  chunks_.pop_front();
}

void StringHeap::drop_before(std::uint64_t row) {
  while (!chunks_.empty() && chunks_.front().last_row < row) drop_front();
}

void StringHeap::clear() {
  while (!chunks_.empty()) drop_front();
}

std::size_t StringHeap::bytes() const {
  std::size_t total = spare_.capacity;
  for (const Chunk& chunk : chunks_) total += chunk.capacity;
  return total;
}

}  // namespace gorgo::history
