#include "cuda/device.hpp"

namespace gorgo::cuda {

std::vector<GpuInfo> describe_gpus() { return {{.unavailable = "this build is without CUDA"}}; }

std::unique_ptr<Device> open_gpu(const ArenaOptions&) {
  throw DeviceError(describe_gpus().front().unavailable, true);
}

}  // namespace gorgo::cuda
