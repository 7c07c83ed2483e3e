#pragma once

#include <cstddef>
#include <cstdint>

#include "protocol/gorgo_generated.h"

namespace gorgo::server {

/// What carrying out a request is expected to cost the engine thread, in nanoseconds. An estimate
/// from the request alone, so that clients can take turns and the queue can be bounded.
struct Work {
  std::uint64_t cost = 0;
  std::uint32_t rows = 0;  ///< of a publication: it can be carried out in pieces
  /// Whether it is carried out even if its client has gone.
  bool kept = false;
};

/// A publication is carried out in pieces of this cost.
inline constexpr std::uint64_t kPieceCost = 2'000'000;
/// About what the engine thread takes at once.
inline constexpr std::uint64_t kTurnCost = 4 * kPieceCost;

Work work_of(const wire::Message& message, std::size_t frame_bytes);

}  // namespace gorgo::server
