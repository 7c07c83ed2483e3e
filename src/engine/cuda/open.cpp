#include <bit>
#include <numeric>
#include <optional>

#include "cuda/host_device.hpp"
#include "cuda/nvrtc.hpp"
#include "engine/cuda/cuda.hpp"
#include "engine/cuda/options.hpp"

namespace gorgo::engine {
namespace {

/// The time that a round on a GPU takes, in nanoseconds.
constexpr double kRoundTrip = 30'000;

CudaEngine::Devices open_host_devices() {
  // Pages are small, so that tests meet their boundaries. One device has few, so that they swap.
  CudaEngine::Devices devices;
  const auto open = [&](std::uint32_t page_shift, std::uint64_t pages) {
    const gpu::DeviceOptions options{.bytes = (pages * sizeof(std::uint64_t)) << page_shift,
                                     .page_shift = page_shift};
    const auto number = static_cast<std::uint32_t>(devices.size());
    devices.push_back(std::make_unique<gpu::HostDevice>(options, number));
  };
  open(5, 1 << 18);
  open(1, 24);
  return devices;
}

/// Small unless an option sets it, so that tests meet both ways.
std::uint64_t longest_inside_of_host() {
  constexpr std::uint64_t kLongest = 6;
  const auto options = cuda_options();
  const bool is_chosen = options && options->longest_inside != CudaOptions().longest_inside;
  return is_chosen ? options->longest_inside : kLongest;
}

/// The GPUs that the options name, or all.
std::vector<std::uint32_t> indices_of(const CudaOptions& options,
                                      const std::vector<gpu::GpuInfo>& gpus) {
  if (!options.devices.empty()) return options.devices;
  std::vector<std::uint32_t> all(gpus.size());
  std::iota(all.begin(), all.end(), 0);
  return all;
}

/// Opens as many GPUs as can be taken into use. None is no failure where the machine has none and
/// the options name none.
CudaEngine::Opened open_gpus() {
  const auto options = cuda_options();
  if (!options) throw gpu::DeviceError("GORGO_CUDA: " + options.error().to_string(), true);
  const auto gpus = gpu::describe_gpus();
  if (options->devices.empty() && gpus.front().is_missing) {
    CudaEngine::Opened none{{}};
    none.why_none = gpus.front().unavailable;
    return none;
  }
  const gpu::DeviceOptions each{
      .bytes = options->memory,
      .page_shift = static_cast<std::uint32_t>(std::countr_zero(options->page_events)),
      .compile = options->compile,
      .fused_uploads = options->fused_uploads};
  CudaEngine::Devices devices;
  std::vector<CudaEngine::LeftOut> left_out;
  std::optional<gpu::DeviceError> problem;
  for (const std::uint32_t index : indices_of(*options, gpus)) {
    try {
      devices.push_back(gpu::open_gpu(index, each));
    } catch (const gpu::DeviceError& error) {
      if (!problem) problem = error;
      left_out.push_back({index, error.what()});
    }
  }
  if (devices.empty()) throw *problem;
  return {std::move(devices), std::move(left_out)};
}

std::string version_text(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

std::string description_of(const gpu::GpuInfo& gpu) {
  if (gpu.name.empty()) return "unavailable: " + gpu.unavailable;
  return gpu.name + ", " + std::to_string(gpu.memory >> 20) + " MiB, " +
         std::to_string(gpu.multiprocessors) + " multiprocessors, compute capability " +
         std::to_string(gpu.capability / 10) + "." + std::to_string(gpu.capability % 10) +
         ", driver for CUDA " + version_text(gpu.driver) + ", built with CUDA " +
         version_text(gpu.runtime);
}

std::string description_of_shapes() {
  const std::string version = gpu::nvrtc::version();
  if (version.empty()) {
    return "interprets conditions other than one comparison: " + gpu::nvrtc::unavailable();
  }
  return "compiles kernels for conditions, with NVRTC " + version;
}

std::string devices_text(const CudaOptions& options) {
  if (options.devices.empty()) return "all GPUs";
  std::string text;
  for (const std::uint32_t index : options.devices) {
    text += (text.empty() ? "" : ", ") + std::to_string(index);
  }
  return (options.devices.size() == 1 ? "GPU " : "GPUs ") + text;
}

std::vector<std::string> describe_cuda() {
  std::vector<std::string> lines = {"batches of terminators search columns on GPUs"};
  const auto gpus = gpu::describe_gpus();
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    const std::string number = gpus.size() == 1 ? "" : std::to_string(i) + ": ";
    lines.push_back(number + description_of(gpus[i]));
  }
  const auto options = cuda_options();
  if (!options) {
    lines.push_back("unavailable: GORGO_CUDA: " + options.error().to_string());
  } else if (!gpus.front().name.empty()) {
    lines.push_back("uses " + devices_text(*options) + ", of each " +
                    std::to_string(options->memory >> 20) + " MiB for columns in pages of " +
                    std::to_string(options->page_events) + " events, for batches of at least " +
                    std::to_string(options->least_pairs) + " pairs");
    lines.push_back(description_of_shapes());
  }
  return lines;
}

}  // namespace

const CudaEngine& cuda_engine() {
  const auto options = cuda_options();
  const CudaOptions chosen = options ? *options : CudaOptions();
  static const CudaEngine engine("cuda", open_gpus, describe_cuda,
                                 {.least_pairs = chosen.least_pairs,
                                  .fixed_cost = kRoundTrip,
                                  .longest_inside = chosen.longest_inside,
                                  .least_terminators = chosen.least_terminators});
  return engine;
}

const CudaEngine& cuda_host_engine() {
  const auto describe = [] {
    return std::vector<std::string>{"cuda with the CPU in the place of two GPUs, for tests"};
  };
  static const CudaEngine engine(
      "cuda-host", open_host_devices, describe,
      {.fixed_cost = 1, .longest_inside = longest_inside_of_host(), .least_terminators = 2});
  return engine;
}

}  // namespace gorgo::engine
