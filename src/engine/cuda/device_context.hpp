#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>

#include "base/workers.hpp"
#include "cuda/device.hpp"
#include "engine/cuda/page_pool.hpp"
#include "engine/cuda/string_codes.hpp"
#include "history/timeline.hpp"

namespace gorgo::engine {

class Mirror;

/// A device in use: what is mirrored on it, and whether it can still be relied upon. Whoever calls
/// anything but `mutex`, `mirrors`, `next_number`, `problem` and the failures, and the device's
/// `shapes`, holds the mutex. Mirrors keep the context alive.
class DeviceContext : public std::enable_shared_from_this<DeviceContext> {
 public:
  explicit DeviceContext(std::unique_ptr<gpu::Device> device);
  ~DeviceContext();

  /// Recursive: what a plan has on the device takes it when it is destroyed, also when placing the
  /// plan fails half-way under the mutex.
  std::recursive_mutex& mutex() { return mutex_; }
  gpu::Device& device() { return *device_; }
  PagePool& pages() { return pages_; }
  const PagePool& pages() const { return pages_; }
  StringCodes& codes() { return codes_; }
  std::uint32_t page_shift() const { return device_->page_shift(); }
  /// Threads for its channels, the caller's among them.
  Workers& workers() { return workers_; }
  /// A number that nobody has had. Any thread may call.
  std::uint64_t next_number() { return ++numbers_; }

  /// The mirror of a timeline, shared with whoever holds it already.
  std::shared_ptr<Mirror> mirror(const history::EventStore& store,
                                 std::shared_ptr<const history::Timeline> timeline);
  /// Whether somebody holds the mirror of a timeline. Takes the mutex itself.
  bool mirrors(const history::Timeline& timeline);
  /// For a mirror that is going to be destroyed.
  void forget(const Mirror& mirror);

  struct Failure {
    std::uint64_t count = 0;  ///< so far: batches that the CPU evaluated because the device failed
    std::string what;
    std::string during;  ///< what was being evaluated
  };

  /// Takes notice of a failure: whatever the device held counts as lost.
  void fail(const gpu::DeviceError& error, const std::string& during);
  /// Why the device is out of use; empty if it is in use.
  std::string problem() const;
  /// The last failure, for people; stays valid for as long as the context.
  std::string_view failure() const;
  Failure last_failure() const;

 private:
  std::recursive_mutex mutex_;
  mutable std::mutex problem_mutex_;
  std::string problem_;  // guarded by problem_mutex_, as the next three
  Failure last_failure_;
  std::set<std::string> failures_;
  std::string_view failure_;
  std::unique_ptr<gpu::Device> device_;
  PagePool pages_;
  StringCodes codes_;
  std::map<const history::Timeline*, Mirror*> mirrors_;  // those that exist
  std::atomic<std::uint64_t> numbers_ = 0;
  Workers workers_;
};

}  // namespace gorgo::engine
