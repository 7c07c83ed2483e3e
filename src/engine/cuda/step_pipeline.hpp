#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <vector>

#include "engine/cuda/evaluator.hpp"
#include "engine/cuda/paging.hpp"
#include "engine/cuda/rounds.hpp"

namespace gorgo::engine {

/// Tasks, in words.
std::string text_of(std::span<const Task> tasks);

/// Does steps of a device, two at a time, each of them in a channel of its own: while the device
/// searches for one of them, the pages of the other one come and the host prepares its searches. No
/// step may be exclusive (`Step::is_exclusive`).
class StepPipeline {
 public:
  static constexpr std::uint32_t kChannels = 2;

  /// Steps name these tasks by their numbers. Whoever calls holds the context's mutex until the
  /// end.
  StepPipeline(DeviceContext& context, std::span<const Task> tasks, const Budget& budget);

  /// Does steps in their order. What is not done, because the device failed or was stopped, is
  /// abandoned.
  void run(std::span<const Step> steps);

 private:
  struct UnderWay {
    const Step* step;
    std::uint64_t round;  ///< of the context, whose pages it needs
    std::vector<RuleSearch*> searches;
    Rounds* rounds;
  };

  bool goes_on() const;
  bool has_room_for(const Step& step);
  void begin(const Step& step);
  void advance();
  void go_on();
  void abandon_all();
  std::string text() const;

  DeviceContext& context_;
  const std::span<const Task> tasks_;
  const Budget& budget_;
  std::array<Rounds, kChannels> rounds_;
  std::vector<Rounds*> unused_;     // of rounds_
  std::deque<UnderWay> under_way_;  // the one whose round began first in front
};

}  // namespace gorgo::engine
