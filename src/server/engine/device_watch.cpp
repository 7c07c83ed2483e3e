#include "server/engine/device_watch.hpp"

namespace gorgo::server {

void DeviceWatch::look() {
  const std::uint64_t failures = device_failures();
  if (failures == failures_) return;
  if (look(devices(), std::chrono::steady_clock::now())) failures_ = failures;
}

bool DeviceWatch::look(const std::vector<DeviceInfo>& devices, Time now) {
  bool all = true;
  for (const DeviceInfo& device : devices) {
    Told& told = told_[{device.engine, device.number}];
    const bool out_of_use = !device.problem.empty();
    const bool ends = out_of_use && !told.out_of_use;
    if (!ends && device.failures == told.failures) continue;
    if (!ends && now < told.silent_until) {
      all = false;
      continue;
    }
    tell(device, device.failures - told.failures);
    told = {device.failures, out_of_use, now + kPause};
  }
  return all;
}

void DeviceWatch::tell(const DeviceInfo& device, std::uint64_t failures) {
  const bool in_use = device.problem.empty();
  log_.warning(in_use ? "device failed, the CPU takes over what it was asked for"
                      : "device out of use, other devices or the CPU take over its rules",
               {{"engine", device.engine},
                {"device", device.number},
                {"reason", in_use ? device.failure : device.problem},
                {"evaluating", device.failed_on.empty() ? "nothing yet" : device.failed_on},
                {"failures", failures}});
}

}  // namespace gorgo::server
