#include "tools/device_text.hpp"

namespace gorgo::tools {

std::string text_of(const DeviceInfo& device) {
  std::string text = device.engine + " device " + std::to_string(device.number) + ": " +
                     (device.problem.empty() ? "in use" : "out of use: " + device.problem);
  const char* separator = "; ";
  for (const DeviceInfo::Counter& counter : device.counters) {
    text += separator + std::to_string(counter.value) + " " + counter.name;
    separator = ", ";
  }
  if (device.failures == 0) return text;
  return text + "; failed " + std::to_string(device.failures) + " times, the last time on " +
         device.failed_on + ": " + device.failure;
}

}  // namespace gorgo::tools
