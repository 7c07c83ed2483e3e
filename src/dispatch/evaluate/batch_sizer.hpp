#pragma once

#include <chrono>
#include <cstddef>
#include <optional>

#include "dispatch/evaluate/batch_time.hpp"
#include "gorgo/event.hpp"

namespace gorgo::dispatch {

/// Says how many roots a batch should have. Where the cuts are does not matter to the results.
class BatchSizer {
 public:
  /// `latency_target`: what a batch may take, in nanoseconds; 0: anything.
  explicit BatchSizer(Duration latency_target) : latency_target_(latency_target) {}

  std::size_t roots() const { return roots_; }

  /// A batch begins. `is_undecided`: as in `Conditions`.
  void start(bool is_undecided) {
    started_.reset();
    if (is_undecided || latency_target_ != 0) started_ = Clock::now();
  }

  /// How the batch was evaluated.
  struct Conditions {
    bool uses_device = false;   ///< a device had terminators, and wants many at once
    bool is_undecided = false;  ///< it is being found out where rules run best
  };
  /// The batch, or a part of it, is done: so many roots with so many composites.
  void learn(std::size_t composites, std::size_t roots, const Conditions& conditions);

 private:
  using Clock = std::chrono::steady_clock;

  void fit_cache(std::size_t composites, std::size_t roots, bool uses_device);
  void keep_to_latency(std::size_t roots, bool is_undecided);

  const Duration latency_target_;
  std::size_t roots_ = 64;
  /// When the batch began, or the part that is under way; unset: nobody has to know.
  std::optional<Clock::time_point> started_;
  BatchTime batch_time_;
};

}  // namespace gorgo::dispatch
