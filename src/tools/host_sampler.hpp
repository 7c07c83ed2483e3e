#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "gorgo/event.hpp"
#include "tools/host_proc.hpp"

namespace gorgo::tools {

/// What a machine says of itself at one moment.
struct HostReading {
  Timestamp at = 0;  ///< of a clock that never goes back
  std::vector<CpuTimes> cpus;
  std::optional<MemorySize> memory;
  std::optional<LoadAverage> load;
  std::vector<Traffic> disks;
  std::vector<Traffic> networks;
  std::optional<std::int64_t> processes;
  std::vector<std::string> missing;  ///< sources that could not be read or say nothing
};

/// Reads `root`/proc and `root`/sys; `root` is "/" but in tests. `at` is left 0.
HostReading read_host(const std::filesystem::path& root);

/// The events that tell how the machine was between two readings, without timestamps:
///
///     Cpu(cpu: int, busy: float)                              per CPU, percent
///     Memory(total: int, available: int, used: float)         bytes, percent
///     Load(one: float, five: float, fifteen: float)
///     Processes(count: int, running: int)
///     Disk(device: string, read: float, written: float)       bytes per second
///     Network(interface: string, rx: float, tx: float)        bytes per second
///
/// Precondition: before.at < now.at.
std::vector<Event> events_between(const HostReading& before, const HostReading& now);

}  // namespace gorgo::tools
