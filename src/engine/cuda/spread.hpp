#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace gorgo::engine {

/// The terminators of one rule, to be put on devices.
struct Load {
  static constexpr std::uint32_t kAnywhere = ~std::uint32_t{0};

  std::uint64_t cost = 0;  ///< in any unit
  std::size_t terminators = 0;
  std::uint32_t home = kAnywhere;  ///< the device that has its columns
  bool is_divisible = true;        ///< may go to several devices, some terminators to each
};

/// A run of a load's terminators, on a device.
struct Share {
  std::uint32_t load;
  std::size_t first, count;
  friend bool operator==(const Share&, const Share&) = default;
};

/// Spreads loads over devices. A load that is more than a device's fair part goes to all of them if
/// its parts cost at least `least_part`. The others go to one device each, the dearest first: to
/// the one that has their columns unless it has too much already, else to the one that has least.
/// Returns the shares of each device; those of a load ascend with the devices.
std::vector<std::vector<Share>> spread(std::span<const Load> loads, std::size_t devices,
                                       std::uint64_t least_part);

}  // namespace gorgo::engine
