#include <cuda_runtime.h>

#include "cuda/device.hpp"

namespace gorgo::gpu {
namespace {

int version_of(cudaError_t (*ask)(int*)) {
  int version = 0;
  return ask(&version) == cudaSuccess ? version : 0;
}

}  // namespace

std::vector<GpuInfo> describe_gpus() {
  const int driver = version_of(cudaDriverGetVersion);
  const int runtime = version_of(cudaRuntimeGetVersion);
  int count = 0;
  const cudaError_t error = cudaGetDeviceCount(&count);
  if (error != cudaSuccess || count == 0) {
    cudaGetLastError();
    const std::string why = driver == 0            ? "this machine has no CUDA driver"
                            : error == cudaSuccess ? "this machine has no GPU"
                                                   : cudaGetErrorString(error);
    const bool is_missing = driver == 0 || error == cudaSuccess || error == cudaErrorNoDevice;
    return {{.unavailable = why, .is_missing = is_missing, .driver = driver, .runtime = runtime}};
  }
  std::vector<GpuInfo> gpus;
  for (int i = 0; i < count; ++i) {
    cudaDeviceProp properties{};
    if (const cudaError_t failed = cudaGetDeviceProperties(&properties, i); failed != cudaSuccess) {
      gpus.push_back({.unavailable = cudaGetErrorString(failed)});
      continue;
    }
    gpus.push_back({.name = properties.name,
                    .memory = properties.totalGlobalMem,
                    .multiprocessors = properties.multiProcessorCount,
                    .capability = properties.major * 10 + properties.minor,
                    .driver = driver,
                    .runtime = runtime});
  }
  return gpus;
}

}  // namespace gorgo::gpu
