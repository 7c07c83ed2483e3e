#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace gorgo {

/// A device that an engine evaluates rules on, and what it has done since it was taken into use.
struct DeviceInfo {
  /// Something that is counted, in words: "rounds", "bytes uploaded".
  struct Counter {
    std::string name;
    std::uint64_t value = 0;
  };

  std::string engine;
  std::uint32_t number = 0;       ///< among the engine's devices; for a GPU, its index
  std::string problem;            ///< why nothing can run on it; empty: it is in use
  std::uint64_t failures = 0;     ///< how often something was evaluated elsewhere instead
  std::string failure;            ///< the last one; empty: none
  std::string failed_on;          ///< what was being evaluated then
  std::vector<Counter> counters;  ///< what it did
};

/// The devices of this process that rules have asked for. Where an engine could have no device, one
/// entry stands for all of its devices. Any thread.
std::vector<DeviceInfo> devices();
/// A number that changes whenever `failures` or `problem` of a device changes; cheap. Any thread.
std::uint64_t device_failures();

}  // namespace gorgo
