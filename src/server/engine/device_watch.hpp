#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "gorgo/device.hpp"
#include "server/log.hpp"

namespace gorgo::server {

/// Tells the log about devices that fail: a line for each at most every kPause, and one when it is
/// out of use. Used by one thread.
class DeviceWatch {
 public:
  using Time = std::chrono::steady_clock::time_point;
  static constexpr std::chrono::seconds kPause{10};

  explicit DeviceWatch(Log& log) : log_(log) {}

  /// Costs next to nothing while no device fails.
  void look();
  /// False: something is held back until later.
  bool look(const std::vector<DeviceInfo>& devices, Time now);

 private:
  struct Told {
    std::uint64_t failures = 0;
    bool out_of_use = false;
    Time silent_until = Time::min();
  };

  void tell(const DeviceInfo& device, std::uint64_t failures);

  Log& log_;
  std::uint64_t failures_ = 0;  // how many failures of all devices were told
  std::map<std::pair<std::string, std::uint32_t>, Told> told_;
};

}  // namespace gorgo::server
