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
  enum class Call { write, fetch, start, finish };
  /// What is to happen to the n-th call of a kind, counted from 1.
  using Faults = std::function<Fault(Call, std::uint64_t n)>;

  FailingDevice(const cuda::DeviceOptions& options, Faults faults)
      : options_(options), faults_(std::move(faults)) {
    make();
  }

  std::uint32_t number() const override { return device_->number(); }
  std::uint32_t page_shift() const override { return device_->page_shift(); }
  std::uint32_t pages() const override { return device_->pages(); }
  void write(std::uint32_t page, std::uint32_t offset,
             std::span<const std::uint64_t> words) override {
    fail(faults_(Call::write, ++writes_));
    device_->write(page, offset, words);
    counters_ = device_->counters();
  }
  /// Not lost when the device breaks.
  std::uint64_t* pin(std::size_t words) override {
    return pinned_.emplace_back(std::make_unique<std::uint64_t[]>(words)).get();
  }
  std::uint64_t fetch(std::span<const cuda::Fetch> pages) override {
    fail(faults_(Call::fetch, ++fetches_));
    const std::uint64_t number = device_->fetch(pages);
    counters_ = device_->counters();
    return number;
  }
  void start(const cuda::Round& round) override {
    fail(faults_(Call::start, ++rounds_));
    device_->start(round);
  }
  cuda::Answers finish() override {
    fail(faults_(Call::finish, rounds_));
    const cuda::Answers answers = device_->finish();
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
  std::vector<std::unique_ptr<std::uint64_t[]>> pinned_;
  std::uint64_t writes_ = 0, fetches_ = 0, rounds_ = 0;
  bool gone_ = false;
};

/// Every `period`-th round fails; 0: none.
inline FailingDevice::Faults every_round(std::uint64_t period, Fault fault) {
  return [=](FailingDevice::Call call, std::uint64_t n) {
    const bool due = call == FailingDevice::Call::finish && period != 0 && n % period == 0;
    return due ? fault : Fault::none;
  };
}

}  // namespace gorgo::engine
