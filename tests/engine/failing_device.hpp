#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "cuda/host_device.hpp"

namespace gorgo::engine {

enum class Fault { none, error, no_memory, final_error };

/// A device that breaks when it is told to. What it held is lost then: other words stand in its
/// arena. Nobody may use it any more once it has failed for good.
class FailingDevice final : public cuda::Device {
 public:
  enum class Call { write, run };
  /// What is to happen to the n-th call of a kind, counted from 1.
  using Faults = std::function<Fault(Call, std::uint64_t n)>;

  FailingDevice(const cuda::DeviceOptions& options, Faults faults)
      : options_(options), faults_(std::move(faults)) {
    make();
  }

  std::uint32_t page_shift() const override { return device_->page_shift(); }
  std::uint32_t pages() const override { return device_->pages(); }
  void write(std::uint32_t page, std::uint32_t offset,
             std::span<const std::uint64_t> words) override {
    fail(faults_(Call::write, ++writes_));
    device_->write(page, offset, words);
    counters_ = device_->counters();
  }
  cuda::Answers run(const cuda::Round& round) override {
    fail(faults_(Call::run, ++runs_));
    const cuda::Answers answers = device_->run(round);
    counters_ = device_->counters();
    return answers;
  }

 private:
  void make() {
    device_ = std::make_unique<cuda::HostDevice>(options_);
    const std::vector<std::uint64_t> words(std::size_t{1} << page_shift(), 0x0101010101010101u);
    for (std::uint32_t page = 0; page < pages(); ++page) device_->write(page, 0, words);
  }

  void fail(Fault fault) {
    EXPECT_FALSE(gone_) << "a device that failed for good is used";
    if (fault == Fault::none) return;
    make();
    if (fault == Fault::no_memory) throw std::bad_alloc();
    gone_ = fault == Fault::final_error;
    throw cuda::DeviceError("a failure that was asked for", gone_);
  }

  const cuda::DeviceOptions options_;
  const Faults faults_;
  std::unique_ptr<cuda::HostDevice> device_;
  std::uint64_t writes_ = 0, runs_ = 0;
  bool gone_ = false;
};

/// Every `period`-th round fails; 0: none.
inline FailingDevice::Faults every_round(std::uint64_t period, Fault fault) {
  return [=](FailingDevice::Call call, std::uint64_t n) {
    const bool due = call == FailingDevice::Call::run && period != 0 && n % period == 0;
    return due ? fault : Fault::none;
  };
}

}  // namespace gorgo::engine
