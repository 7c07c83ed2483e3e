#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <utility>

#include "gorgo/door.hpp"

namespace gorgo::server {

/// What a door tells of itself. Its thread writes, any reads.
class DoorReport {
 public:
  explicit DoorReport(Door identity) : identity_(std::move(identity)) {}

  std::atomic<std::uint64_t> events = 0, refused = 0, dead = 0, lost = 0, failures = 0;

  void set_position(std::string position) {
    const std::lock_guard lock(mutex_);
    position_ = std::move(position);
  }
  /// Empty: it works. Returns whether that is news.
  bool set_problem(const std::string& problem) {
    if (!problem.empty()) ++failures;
    return set_state(problem);
  }
  /// As `set_problem`, for one that lasts until it is mended: it is one failure, however often it
  /// is told.
  bool set_lasting_problem(const std::string& problem) {
    const bool is_news = set_state(problem);
    if (is_news) ++failures;
    return is_news;
  }
  void set_waiting(bool waiting) { waiting_ = waiting; }
  /// The other side has been reached.
  void set_open() { is_open_ = true; }

  Door info() const {
    Door info = identity_;
    info.events = events;
    info.refused = refused;
    info.dead_letters = dead;
    info.lost = lost;
    info.failures = failures;
    const std::lock_guard lock(mutex_);
    info.position = position_;
    info.problem = problem_;
    info.state = !problem_.empty() ? "failing"
                 : !is_open_       ? "opening"
                 : waiting_        ? "waiting"
                                   : "running";
    return info;
  }

 private:
  const Door identity_;
  std::atomic<bool> waiting_ = false, is_open_ = false;
  mutable std::mutex mutex_;  // guards what follows
  std::string position_, problem_;

  bool set_state(const std::string& problem) {
    const std::lock_guard lock(mutex_);
    return std::exchange(problem_, problem) != problem;
  }
};

}  // namespace gorgo::server
