#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "engine/cuda/evaluator.hpp"

namespace gorgo::engine {

/// What was announced of a rule.
struct Evaluation {
  CudaEvaluator* evaluator;
  const Announcement* announcement;
  std::uint64_t pairs;
};

using Sessions = std::span<const std::shared_ptr<Session>>;

/// What each device has to do of a batch. Has the plans put there. `least_pairs`: what a part of a
/// divided rule has at least.
std::vector<std::vector<Task>> tasks_of(std::span<const Evaluation> evaluations, Sessions sessions,
                                        std::uint64_t least_pairs);

/// Does the tasks of one device, step by step. What is not done, because the device failed, has no
/// room or was stopped, is left to the evaluators.
void run_on(Session& session, std::span<const Task> tasks, const std::atomic<bool>& stop);

}  // namespace gorgo::engine
