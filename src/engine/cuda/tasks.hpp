#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "engine/cuda/evaluator.hpp"

namespace gorgo::engine {

/// A request that is worth a device.
struct DeviceRequest {
  CudaEvaluator* evaluator;  ///< that of the request
  const Request* request;
  std::uint64_t pairs;  ///< see CudaEvaluator::pairs
};

using DeviceContexts = std::span<const std::shared_ptr<DeviceContext>>;

/// How the terminators of requests are divided.
struct PartitionOptions {
  std::uint64_t least_pairs;        ///< of a part of a rule that is divided among devices
  std::uint64_t least_terminators;  ///< a turn in a channel of a device has at least so many
  unsigned threads;                 ///< for the host's part
};

/// What one device has to do of a batch.
struct DeviceTasks {
  std::vector<Task> tasks;
  unsigned threads = 1;  ///< for the host's part
  bool fits = true;      ///< there is room for the columns of all
};

/// Says what each device has to do of a batch, and puts the plans there.
std::vector<DeviceTasks> tasks_of(std::span<const DeviceRequest> requests, DeviceContexts contexts,
                                  const PartitionOptions& options);

/// Does the tasks of one device, step by step. What is not done, because the device failed, has no
/// room or was stopped, is left to the evaluators.
void run_on(DeviceContext& context, const DeviceTasks& tasks, const Budget& budget);

}  // namespace gorgo::engine
