#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "server/log.hpp"

namespace gorgo::server {

/// Sets the memory reserve aside again when it was given up, and says in the log that there is too
/// little memory. Belongs to the engine thread.
class MemoryWatch {
 public:
  MemoryWatch(std::size_t reserve_bytes, Log& log) : reserve_bytes_(reserve_bytes), log_(log) {}

  void look();
  /// Whether there was too little memory when it looked last.
  bool is_short() const { return is_short_; }
  /// Times the reserve was given up. Any thread.
  std::uint64_t shortages() const { return shortages_.load(std::memory_order_relaxed); }

 private:
  const std::size_t reserve_bytes_;
  Log& log_;
  bool is_short_ = false;
  std::atomic<std::uint64_t> shortages_ = 0;
};

}  // namespace gorgo::server
