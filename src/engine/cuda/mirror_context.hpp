#pragma once

#include <cstdint>
#include <vector>

#include "cuda/device.hpp"
#include "engine/cuda/mirrored_positions.hpp"
#include "engine/cuda/page_pool.hpp"
#include "engine/cuda/page_schedule.hpp"
#include "engine/cuda/string_codes.hpp"
#include "history/event_store.hpp"
#include "history/timeline.hpp"

namespace gorgo::engine {

/// What the fields of a mirror share. All of it outlives them.
struct MirrorContext {
  gpu::Device& device;
  PagePool& pool;
  StringCodes& codes;
  const history::EventStore& store;
  const history::Timeline& timeline;
  const MirroredPositions& positions;
  PageSchedule& schedule;
  std::vector<std::uint64_t>& scratch;  ///< for words on their way to the device
};

}  // namespace gorgo::engine
