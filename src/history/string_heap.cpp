#include "history/string_heap.hpp"

#include <algorithm>

namespace gorgo::history {

std::string_view StringHeap::add(std::string_view text, std::uint64_t row) {
  if (text.empty()) return {};
  if (chunks_.empty() || chunks_.back().capacity - chunks_.back().used < text.size()) {
    const std::size_t grown = chunks_.empty() ? kSmallest : chunks_.back().capacity * 2;
    const std::size_t capacity = std::max(std::min(grown, kLargest), text.size());
    chunks_.push_back({.data = std::make_unique<char[]>(capacity), .capacity = capacity});
  }
  Chunk& chunk = chunks_.back();
  char* const start = chunk.data.get() + chunk.used;
  std::copy(text.begin(), text.end(), start);
  chunk.used += text.size();
  chunk.last_row = std::max(chunk.last_row, row);
  return {start, text.size()};
}

void StringHeap::drop_before(std::uint64_t row) {
  while (!chunks_.empty() && chunks_.front().last_row < row) chunks_.pop_front();
}

std::size_t StringHeap::bytes() const {
  std::size_t total = 0;
  for (const Chunk& chunk : chunks_) total += chunk.capacity;
  return total;
}

}  // namespace gorgo::history
