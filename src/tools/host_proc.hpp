#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// The texts under /proc that tell how busy a Linux machine is. Pure functions; what a text lacks
/// is left out of the answer, so an empty answer means that it is of no use.
namespace gorgo::tools {

/// Time since boot in clock ticks.
struct CpuTimes {
  int cpu = 0;
  std::uint64_t busy = 0;
  std::uint64_t total = 0;
};
/// /proc/stat, per CPU. Waiting for I/O is idle time; guests are part of user time already.
std::vector<CpuTimes> parse_cpu_times(std::string_view stat);

struct MemorySize {
  std::uint64_t total = 0;      ///< bytes
  std::uint64_t available = 0;  ///< bytes
};
/// /proc/meminfo
std::optional<MemorySize> parse_memory(std::string_view meminfo);

struct LoadAverage {
  double one = 0, five = 0, fifteen = 0;  ///< over so many minutes
  std::int64_t running = 0;               ///< runnable threads
};
/// /proc/loadavg
std::optional<LoadAverage> parse_load(std::string_view loadavg);

/// Bytes since boot, in and out.
struct Traffic {
  std::string device;
  std::uint64_t in = 0;
  std::uint64_t out = 0;
};
/// /proc/diskstats: bytes read and written. Devices that were never used are left out.
std::vector<Traffic> parse_disks(std::string_view diskstats);
/// /proc/net/dev: bytes received and sent.
std::vector<Traffic> parse_networks(std::string_view net_dev);

}  // namespace gorgo::tools
