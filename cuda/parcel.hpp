#pragma once

#include "cuda/layout.hpp"

namespace gorgo::gpu {

/// Words to be written into the arena.
struct Run {
  std::uint64_t to;    ///< word of the arena
  std::uint64_t from;  ///< word of what is staged
  std::uint64_t count;
};

/// All that a small round uploads, as an argument of its launches: nothing goes before them, and
/// their blocks find the round beside them instead of in the device's memory.
struct Parcel {
  /// The most words of `data`. With the other arguments of a launch it stays within 4 KiB, which
  /// any launch may have.
  static constexpr std::uint32_t kMost = 464;

  View view;  ///< pointers as if the round's words stood at `base`
  const std::uint64_t* base = nullptr;
  std::uint64_t* arena = nullptr;
  std::uint32_t words = 0;  ///< of `data`: the round's, then runs and what they write
  std::uint32_t first_run = 0, runs = 0;

  // The members below differ from launch to launch.
  std::uint32_t zeros = 0;  ///< words that it finds as zeros and leaves so
  std::uint64_t* zeroed = nullptr;
  std::uint32_t* groups_done = nullptr;  ///< among them: counts the groups that are done
  std::uint32_t* flag = nullptr;         ///< of the host: becomes `number` when answers are there
  std::uint32_t number = 0;

  std::uint64_t data[kMost];
};

}  // namespace gorgo::gpu
