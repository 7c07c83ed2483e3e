#pragma once

#include <nvtx3/nvtx3.hpp>

/// Ranges on the host's time line for Nsight Systems and other tools that read NVTX. A range costs
/// some nanoseconds as long as no tool is attached. Any thread.
namespace gorgo::gpu {

struct ProfilingDomain {
  static constexpr const char* name = "gorgo";
};

/// From its construction to its destruction, on one thread; those of a thread nest.
using ProfiledRange = nvtx3::scoped_range_in<ProfilingDomain>;

}  // namespace gorgo::gpu
