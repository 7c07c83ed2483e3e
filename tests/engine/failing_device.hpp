#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "cuda/host_device.hpp"

namespace gorgo::engine {

enum class Fault { none, error, no_memory, final_error };

/// A device that breaks when it is told to. What it held is lost then: other words stand in its
/// arena before it is used again. Once it has failed for good, nobody may use it but channels that
/// are at work just then.
class FailingDevice final : public gpu::Device {
 public:
  enum class Call { write, fetch, start, finish };
  /// What is to happen to the n-th call of a kind, counted from 1. Any thread.
  using Faults = std::function<Fault(Call, std::uint64_t n)>;

  FailingDevice(const gpu::DeviceOptions& options, Faults faults)
      : options_(options), faults_(std::move(faults)) {
    make();
    for (std::uint32_t i = 0; i < options.channels; ++i) channels_.emplace_back(*this, i);
  }

  std::uint32_t number() const override { return device_->number(); }
  std::uint32_t page_shift() const override { return device_->page_shift(); }
  std::uint32_t pages() const override { return device_->pages(); }
  std::uint32_t channels() const override { return device_->channels(); }
  gpu::Channel& channel(std::uint32_t number) override { return channels_[number]; }
  void write(std::uint32_t page, std::uint32_t offset,
             std::span<const std::uint64_t> words) override {
    use();
    fail(faults_(Call::write, ++writes_));
    device_->write(page, offset, words);
  }
  void publish() override {
    use();
    device_->publish();
  }
  /// What is pinned is not lost when the device breaks.
  std::uint64_t* pin(std::size_t words) override {
    return pinned_.emplace_back(std::make_unique<std::uint64_t[]>(words)).get();
  }
  std::uint64_t fetch(std::span<const gpu::Fetch> pages) override {
    use();
    fail(faults_(Call::fetch, ++fetches_));
    return device_->fetch(pages);
  }

 private:
  class FailingChannel final : public gpu::Channel {
   public:
    FailingChannel(FailingDevice& device, std::uint32_t number)
        : device_(device), number_(number) {}

    void start(const gpu::Round& round) override {
      if (number_ == 0) device_.use();
      device_.fail(device_.faults_(Call::start, ++device_.rounds_));
      round_ = &round;
      device_.device_->channel(number_).start(round);
    }
    gpu::Answers finish() override {
      device_.fail(device_.faults_(Call::finish, device_.rounds_));
      count(*round_);
      return device_.device_->channel(number_).finish();
    }

   private:
    FailingDevice& device_;
    std::uint32_t number_;
    const gpu::Round* round_ = nullptr;
  };

  void make() {
    device_ = std::make_unique<gpu::HostDevice>(options_);
    const std::vector<std::uint64_t> words(std::size_t{1} << page_shift(), 0x0101010101010101u);
    for (std::uint32_t page = 0; page < pages(); ++page) device_->write(page, 0, words);
  }

  /// Must be called only while no channel is at work.
  void use() {
    EXPECT_FALSE(gone_) << "a device that failed for good is used";
    if (broken_.exchange(false)) make();
  }
  void fail(Fault fault) {
    if (fault == Fault::none) return;
    broken_ = true;
    if (fault == Fault::no_memory) throw std::bad_alloc();
    const bool is_final = fault == Fault::final_error;
    if (is_final) gone_ = true;
    throw gpu::DeviceError("a failure that was asked for", is_final);
  }

  const gpu::DeviceOptions options_;
  const Faults faults_;
  std::unique_ptr<gpu::HostDevice> device_;
  std::deque<FailingChannel> channels_;
  std::vector<std::unique_ptr<std::uint64_t[]>> pinned_;
  std::uint64_t writes_ = 0, fetches_ = 0;
  std::atomic<std::uint64_t> rounds_ = 0;
  std::atomic<bool> broken_ = false, gone_ = false;
};

/// Every `period`-th round fails; 0: none.
inline FailingDevice::Faults every_round(std::uint64_t period, Fault fault) {
  return [=](FailingDevice::Call call, std::uint64_t n) {
    const bool due = call == FailingDevice::Call::finish && period != 0 && n % period == 0;
    return due ? fault : Fault::none;
  };
}

}  // namespace gorgo::engine
