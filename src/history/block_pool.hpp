#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <utility>
#include <vector>

#include "base/huge_allocator.hpp"

namespace gorgo::history {

/// Memory for many small arrays that come and go. Small blocks are cut from chunks and kept for
/// reuse by size until the pool is destroyed; large ones come from the heap and go back to it.
class BlockPool {
 public:
  BlockPool() = default;
  BlockPool(const BlockPool&) = delete;
  BlockPool& operator=(const BlockPool&) = delete;

  /// Uninitialised, aligned for 16 bytes; freed by `release`, not by the pool, when it is large.
  std::byte* allocate(std::size_t bytes) {
    if (bytes > kLargest) return static_cast<std::byte*>(::operator new(bytes));
    Free*& free = free_[class_of(bytes)];
    if (free == nullptr) refill(class_of(bytes));
    Free* const block = free;
    free = block->next;
    in_use_ += bytes_of(class_of(bytes));
    return reinterpret_cast<std::byte*>(block);
  }

  /// Precondition: `bytes` is what `allocate` was given for the block.
  void release(std::byte* block, std::size_t bytes) {
    if (bytes > kLargest) return ::operator delete(block);
    Free*& free = free_[class_of(bytes)];
    free = new (block) Free{free};
    in_use_ -= bytes_of(class_of(bytes));
  }

  /// The memory of the chunks that no block in use has.
  std::size_t spare_bytes() const { return chunk_bytes_ - in_use_; }

 private:
  struct Free {
    Free* next;
  };
  static constexpr std::size_t kUnit = 16;
  static constexpr std::size_t kLargest = 8 * 1024;
  static constexpr std::size_t kClasses = 33;  // class_of(kLargest) is the last
  static constexpr std::size_t kSmallestRefill = 256;
  static constexpr std::size_t kLargestRefill = 64 * 1024;
  static constexpr std::size_t kLargestChunk = 2 * 1024 * 1024;  // in huge pages

  /// Multiples of the unit up to 8, then four sizes for each doubling, so that at most a fifth of a
  /// block is lost.
  static constexpr std::size_t class_of(std::size_t bytes) {
    const std::size_t units = (bytes + kUnit - 1) / kUnit;
    if (units <= 8) return units;
    const auto power = static_cast<std::size_t>(std::bit_width(units - 1)) - 3;
    return 4 * power + ((units - 1) >> power) + 1;
  }
  static constexpr std::size_t bytes_of(std::size_t size_class) {
    if (size_class <= 8) return size_class * kUnit;
    const std::size_t power = (size_class - 5) / 4;
    return ((size_class - 4 * power) << power) * kUnit;
  }

  void refill(std::size_t size_class) {
    const std::size_t size = bytes_of(size_class);
    const std::size_t wanted = std::clamp(chunk_bytes_ / 8, kSmallestRefill, kLargestRefill);
    const std::size_t count = std::max<std::size_t>(1, wanted / size);
    std::byte* const blocks = take(count * size);
    in_use_ += count * size;  // until they are released
    for (std::size_t i = count; i-- > 0;) release(blocks + i * size, size);
  }

  /// Takes memory from the newest chunk, or from a new one.
  std::byte* take(std::size_t bytes) {
    if (left_ < bytes) {
      const std::size_t wanted = std::clamp(chunk_bytes_ / 8, kSmallestRefill, kLargestChunk);
      left_ = std::max(bytes, wanted / kUnit * kUnit);
      chunks_.emplace_back(left_);
      chunk_bytes_ += left_;
    }
    left_ -= bytes;
    return chunks_.back().data() + left_;
  }

  /// Uninitialised memory.
  class Chunk {
   public:
    explicit Chunk(std::size_t bytes) : bytes_(bytes), data_(Allocator().allocate(bytes)) {}
    ~Chunk() {
      if (data_ != nullptr) Allocator().deallocate(data_, bytes_);
    }
    Chunk(Chunk&& other) noexcept
        : bytes_(other.bytes_), data_(std::exchange(other.data_, nullptr)) {}
    Chunk& operator=(Chunk&&) = delete;
    std::byte* data() const { return data_; }

   private:
    using Allocator = HugeAllocator<std::byte>;
    std::size_t bytes_;
    std::byte* data_;
  };

  std::vector<Chunk> chunks_;
  std::size_t left_ = 0;  // of the newest chunk
  std::size_t chunk_bytes_ = 0;
  std::size_t in_use_ = 0;  // bytes of small blocks
  std::array<Free*, kClasses> free_{};
};

}  // namespace gorgo::history
