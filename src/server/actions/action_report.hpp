#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <utility>

#include "gorgo/action.hpp"

namespace gorgo::server {

/// What a target tells of itself. Its thread writes, any reads.
class ActionReport {
 public:
  explicit ActionReport(ActionTarget identity) : identity_(std::move(identity)) {}

  std::atomic<std::uint64_t> waiting = 0, done = 0, attempts = 0, failures = 0, dead = 0,
                             retriable = 0, lost = 0, silenced = 0, inhibited = 0;
  std::atomic<bool> is_open = false;

  /// Empty: it works. Returns whether it works where it did not, or the other way round.
  bool set_problem(const std::string& problem) {
    const std::lock_guard lock(mutex_);
    const bool was_well = std::exchange(problem_, problem).empty();
    return was_well != problem.empty();
  }

  ActionTarget info() const {
    ActionTarget info = identity_;
    info.waiting = waiting;
    info.done = done;
    info.attempts = attempts;
    info.failures = failures;
    info.dead = dead;
    info.retriable = retriable;
    info.lost = lost;
    info.silenced = silenced;
    info.inhibited = inhibited;
    const std::lock_guard lock(mutex_);
    info.problem = problem_;
    info.state = is_open ? "open" : problem_.empty() ? "running" : "failing";
    return info;
  }

 private:
  const ActionTarget identity_;
  mutable std::mutex mutex_;  // guards what follows
  std::string problem_;
};

}  // namespace gorgo::server
