#pragma once

#include <string>

#include "gorgo/device.hpp"

namespace gorgo::tools {

/// One line: whether the device is in use, what it did, how it failed last.
std::string text_of(const DeviceInfo& device);

}  // namespace gorgo::tools
