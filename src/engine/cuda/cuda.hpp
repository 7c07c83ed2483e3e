#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "engine/cuda/session.hpp"
#include "engine/engine.hpp"

namespace gorgo::engine {

/// Column-based delayed processing on a GPU (Cugola and Margara, "Low latency complex event
/// processing on parallel hardware", JPDC 2012, section 5): the host evaluates what depends on the
/// sequence, the device searches the columns, for all terminators of a batch at once.
/// A batch that is too small for that, and one that the device fails on, is evaluated by scanning
/// on the CPU.
class CudaEngine final : public Engine {
 public:
  using Open = std::function<std::unique_ptr<cuda::Device>()>;  ///< throws DeviceError
  using Describe = std::function<std::vector<std::string>()>;

  /// The device is opened for the first rule that needs it.
  CudaEngine(std::string_view name, Open open, Describe describe, std::uint64_t least_pairs)
      : name_(name),
        open_(std::move(open)),
        describe_(std::move(describe)),
        least_pairs_(least_pairs) {}

  std::string_view name() const override { return name_; }
  std::vector<std::string> description() const override { return describe_(); }
  /// A device has all terminators of a rule at once.
  bool divides_terminators() const override { return false; }
  void announce(std::span<const Announcement> announced,
                const std::atomic<bool>& stop) const override;
  std::string declined(const plan::Plan& plan) const override;
  std::unique_ptr<Evaluator> prepare(std::shared_ptr<const plan::Plan> plan,
                                     history::History& history) const override;

  /// Null when there is no device, or once it has failed for good.
  std::shared_ptr<Session> session() const;

 private:
  std::string_view name_;
  Open open_;
  Describe describe_;
  std::uint64_t least_pairs_;
  mutable std::mutex mutex_;
  mutable std::shared_ptr<Session> session_;
  mutable std::string unavailable_;
};

/// The GPU of this machine.
const CudaEngine& cuda_engine();
/// The same engine with the CPU in the place of the GPU: for tests.
const CudaEngine& cuda_host_engine();

}  // namespace gorgo::engine
