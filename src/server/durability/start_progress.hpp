#pragma once

#include <algorithm>
#include <cstdint>
#include <mutex>
#include <string>

namespace gorgo::server {

/// How far the start of a server is. Thread-safe: the thread that starts the server writes it, the
/// I/O thread tells clients and the service manager.
class StartProgress {
 public:
  /// A step begins, of so many parts; 0: their number is unknown.
  void begin(std::string step, std::string unit = "", std::uint64_t all = 0) {
    const std::lock_guard lock(mutex_);
    step_ = std::move(step);
    unit_ = std::move(unit);
    all_ = all;
    done_ = 0;
  }
  /// So many parts of the step are done.
  void reach(std::uint64_t done) {
    const std::lock_guard lock(mutex_);
    done_ = std::min(done, all_);
  }
  /// "replaying the journal: 1200 of 5000 records (24 %)"
  std::string text() const {
    const std::lock_guard lock(mutex_);
    if (all_ == 0) return step_;
    return step_ + ": " + std::to_string(done_) + " of " + std::to_string(all_) + " " + unit_ +
           " (" + std::to_string(done_ * 100 / all_) + " %)";
  }

 private:
  mutable std::mutex mutex_;
  std::string step_ = "starting", unit_;
  std::uint64_t done_ = 0, all_ = 0;
};

}  // namespace gorgo::server
