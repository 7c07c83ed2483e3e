#include "cuda/device.hpp"
#include "cuda/nvrtc.hpp"

namespace gorgo::gpu {

std::vector<GpuInfo> describe_gpus() {
  return {{.unavailable = "this build is without CUDA", .is_missing = true}};
}

std::unique_ptr<Device> open_gpu(std::uint32_t, const DeviceOptions&) {
  throw DeviceError(describe_gpus().front().unavailable, true);
}

namespace nvrtc {

std::string version() { return ""; }
std::string unavailable() { return "this build is without CUDA"; }

Compiled compile(const std::string&, std::span<const std::string>, int) {
  return {.cubin = "", .names = {}, .problem = unavailable()};
}

}  // namespace nvrtc
}  // namespace gorgo::gpu
