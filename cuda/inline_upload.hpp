#pragma once

#include "cuda/layout.hpp"

namespace gorgo::gpu {

/// Words to be written into the arena.
struct ArenaWrite {
  std::uint64_t to;    ///< word of the arena
  std::uint64_t from;  ///< word of what is staged
  std::uint64_t count;
};

/// All that a small round uploads, as an argument of its fused launches: no other kernel goes
/// before them, and their blocks find the round in the argument instead of in the device's memory.
struct InlineUpload {
  /// The most words of `data`. With the other arguments of a launch it stays within 4 KiB, which
  /// any launch may have.
  static constexpr std::uint32_t kWords = 464;

  View view;  ///< pointers as if the round's words stood at `base`
  const std::uint64_t* base = nullptr;
  std::uint64_t* arena = nullptr;
  std::uint32_t words = 0;  ///< of `data`: the round's, then writes and what they write
  std::uint32_t first_write = 0, writes = 0;

  // The members below differ from launch to launch.
  std::uint32_t zeros = 0;  ///< words that it finds as zeros and leaves so
  std::uint64_t* zeroed = nullptr;
  std::uint32_t* groups_done = nullptr;  ///< among them: counts the groups that are done
  std::uint32_t* flag = nullptr;         ///< of the host: becomes `number` when answers are there
  std::uint32_t number = 0;

  std::uint64_t data[kWords];
};

}  // namespace gorgo::gpu
