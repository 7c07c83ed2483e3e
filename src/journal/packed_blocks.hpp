#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

/// Blocks of 16 numbers of 8 bytes in as few bytes as all of them need.
namespace gorgo::journal {

inline constexpr std::size_t kWordBytes = sizeof(std::uint64_t);
inline constexpr std::size_t kBlockWords = 16;
inline constexpr std::size_t kBlockBytes = kBlockWords * kWordBytes;
using Block = std::array<std::uint64_t, kBlockWords>;

/// Which bytes a packed block has of each word.
struct Kept {
  unsigned width = 0;        ///< how many, 0 to 8
  unsigned below = 0;        ///< how many zeros stand below them
  bool differences = false;  ///< from the word before, whose sign is the lowest bit

  static Kept of(std::byte byte);
  std::byte to_byte() const {
    return static_cast<std::byte>(width | below << 4 | (differences ? 0x80U : 0U));
  }
  bool is_valid() const { return width + below <= kWordBytes; }
  std::size_t bytes() const { return width * kBlockWords; }
};

/// Packs the blocks from `from` to `end`, and returns the end of what it has written at `to`. It
/// may write two words more. The word before the first one is 0.
using PackBlocks = std::byte* (*)(const std::byte* from, const std::byte* end, std::byte* to);
/// The ways that this processor knows, the fastest first. All of them give the same bytes.
std::span<const PackBlocks> ways_to_pack_blocks();

/// `from`: the bytes of a block that were kept, and a word behind them. `before`: the word before
/// the block.
Block unpack_block(Kept kept, const std::byte* from, std::uint64_t before);

}  // namespace gorgo::journal
