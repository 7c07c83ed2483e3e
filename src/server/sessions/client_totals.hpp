#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <new>
#include <utility>

namespace gorgo::server {

/// The memory that all clients together hold: bytes of unfinished frames, requests on their way to
/// the engine, replies and deliveries on their way out. Thread-safe.
class MemoryBudget {
 public:
  /// `on_excess` is called by whoever calls `check` when the limit is exceeded, and only once until
  /// `looked` is called.
  MemoryBudget(std::size_t limit, std::function<void()> on_excess)
      : limit_(static_cast<std::int64_t>(limit)), on_excess_(std::move(on_excess)) {}

  void add(std::size_t bytes) noexcept { used_ += static_cast<std::int64_t>(bytes); }
  void give_back(std::size_t bytes) noexcept { used_ -= static_cast<std::int64_t>(bytes); }

  /// To be called after `add`, without a lock held.
  void check() noexcept {
    if (excess() <= 0 || told_.exchange(true)) return;
    try {
      on_excess_();
    } catch (const std::bad_alloc&) {  // the next check tells
      looked();
    }
  }
  /// Has a further excess told again.
  void looked() noexcept { told_ = false; }

  std::int64_t used() const noexcept { return used_; }
  std::int64_t limit() const noexcept { return limit_; }
  /// How many bytes are used beyond the limit; not positive while there is room.
  std::int64_t excess() const noexcept { return used_ - limit_; }

 private:
  const std::int64_t limit_;
  const std::function<void()> on_excess_;
  std::atomic<std::int64_t> used_ = 0;
  std::atomic<bool> told_ = false;
};

/// What one owner holds of a budget; given back when it goes. Used by one thread at a time.
class MemoryShare {
 public:
  MemoryShare() = default;
  explicit MemoryShare(MemoryBudget& budget) : budget_(&budget) {}
  ~MemoryShare() { resize(0); }
  MemoryShare(MemoryShare&& other) noexcept
      : budget_(other.budget_), bytes_(std::exchange(other.bytes_, 0)) {}
  MemoryShare& operator=(MemoryShare&& other) noexcept {
    std::swap(budget_, other.budget_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }

  std::size_t bytes() const { return bytes_; }
  void resize(std::size_t bytes) noexcept {
    if (budget_ == nullptr || bytes == bytes_) return;
    if (bytes > bytes_) budget_->add(bytes - bytes_);
    if (bytes < bytes_) budget_->give_back(bytes_ - bytes);
    bytes_ = bytes;
  }

 private:
  MemoryBudget* budget_ = nullptr;
  std::size_t bytes_ = 0;
};

/// What is counted over all clients. Thread-safe.
struct ClientTotals {
  MemoryBudget memory;
  std::atomic<std::uint64_t> lost_rows = 0;       ///< rows that subscribers did not get
  std::atomic<std::uint64_t> slow_consumers = 0;  ///< disconnected because too much waited for them
  std::atomic<std::uint64_t> subscriber_waits = 0;  ///< publishers waited for a slow subscriber
  std::atomic<std::uint64_t> malformed_lines = 0;   ///< event lines that were none
};

}  // namespace gorgo::server
