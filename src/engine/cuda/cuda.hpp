#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/workers.hpp"
#include "engine/cuda/device_context.hpp"
#include "engine/cuda/options.hpp"
#include "engine/engine.hpp"
#include "gorgo/device.hpp"

namespace gorgo::engine {

/// Column-based delayed processing on GPUs (Cugola and Margara, "Low latency complex event
/// processing on parallel hardware", JPDC 2012, section 5): the host evaluates what depends on the
/// sequence, a device searches the columns, for all terminators of a batch at once. The rules of a
/// batch are spread over the devices. A rule that is most of the batch has its terminators spread,
/// too. The host's part of a large batch is done by several threads, each of which has a channel of
/// a device. A batch that is too small for that, and one that the device fails on, is evaluated by
/// scanning on the CPU.
class CudaEngine final : public Engine {
 public:
  using Devices = std::vector<std::unique_ptr<gpu::Device>>;
  /// A device that could not be taken into use, and why.
  struct LeftOut {
    std::uint32_t number;
    std::string problem;
  };
  struct Opened {
    // Implicit, since mostly no device is left out.  NOLINTNEXTLINE
    Opened(Devices all, std::vector<LeftOut> others = {})
        : devices(std::move(all)), left_out(std::move(others)) {}

    Devices devices;
    std::vector<LeftOut> left_out;
    std::string why_none;  ///< where there is no device, and nobody expects one
  };
  using Open = std::function<Opened()>;  ///< throws DeviceError when none can be taken into use
  using Describe = std::function<std::vector<std::string>()>;

  /// What makes it work in one way or another.
  struct Tuning {
    std::uint64_t least_pairs = 0;  ///< see CudaOptions
    double fixed_cost = 0;
    std::uint64_t longest_inside = CudaOptions().longest_inside;
    std::uint64_t least_terminators = CudaOptions().least_terminators;  ///< of a turn in a channel
  };

  /// The devices are opened for the first rule that needs one.
  CudaEngine(std::string_view name, Open open, Describe describe, const Tuning& tuning)
      : name_(name), open_(std::move(open)), describe_(std::move(describe)), tuning_(tuning) {}
  /// Waits for a device that is being opened.
  ~CudaEngine() override {
    if (opener_.joinable()) opener_.join();
  }

  std::string_view name() const override { return name_; }
  std::vector<std::string> description() const override { return describe_(); }
  bool is_device() const override { return true; }
  double fixed_cost() const override { return tuning_.fixed_cost; }
  /// Has a thread of its own open the devices, which takes some tenths of a second.
  bool is_ready() const override;
  /// True while kernels that were asked for are being compiled.
  bool is_warming_up() const override;
  void settle() const override;
  /// A device takes all terminators of a rule at once.
  bool divides_terminators() const override { return false; }
  void evaluate(std::span<Request> requests, const Budget& budget) const override;
  std::string reason_to_decline(const plan::Plan& plan) const override;
  std::unique_ptr<Evaluator> prepare(std::shared_ptr<const plan::Plan> plan,
                                     history::History& history) const override;

  /// Opens the devices and returns those that have not failed for good.
  std::vector<std::shared_ptr<DeviceContext>> contexts() const;
  /// All devices that were opened or left out, or why none could be opened. Opens none. Any thread
  /// may call this and `failures`.
  std::vector<DeviceInfo> devices() const;
  /// A number that changes when `devices` has more to say of failures.
  std::uint64_t failures() const;

 private:
  void search(std::span<const Request> requests, const Budget& budget) const;

  std::string_view name_;
  Open open_;
  Describe describe_;
  const Tuning tuning_;
  mutable std::mutex mutex_;    // guards the next five
  mutable std::thread opener_;  // runs at most once; the destructor joins it
  mutable std::vector<std::shared_ptr<DeviceContext>> contexts_;
  mutable std::vector<LeftOut> left_out_;
  mutable std::string unavailable_;   // why there is no device
  mutable bool is_at_fault_ = false;  // which is a failure, and none of a machine without devices
  /// True once the devices have been opened or could not be. `is_ready` reads it without the mutex,
  /// which another thread may hold for a moment.
  mutable std::atomic<bool> is_opened_ = false;
  mutable std::mutex workers_mutex_;
  mutable std::unique_ptr<Workers> workers_;  // guarded by workers_mutex_; as many as devices
};

/// The GPUs of this machine.
const CudaEngine& cuda_engine();
/// The CUDA engine with the CPU in the place of two GPUs, for tests.
const CudaEngine& cuda_host_engine();

}  // namespace gorgo::engine
