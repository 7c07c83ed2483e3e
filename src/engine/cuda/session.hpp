#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "cuda/device.hpp"
#include "engine/cuda/string_codes.hpp"
#include "history/timeline.hpp"

namespace gorgo::engine {

class Mirror;

/// What the session did since it was opened.
struct SessionCounters {
  std::uint64_t failures = 0;   ///< batches that the CPU evaluated because the device failed
  std::uint64_t evictions = 0;  ///< columns that made room for others
};

/// A device in use: its pages, what is mirrored in them, and whether it can still be relied upon.
/// Whoever calls anything but `mutex`, `mirrors`, `turn`, `problem` and `failure` holds the mutex.
/// Mirrors keep the session alive.
class Session : public std::enable_shared_from_this<Session> {
 public:
  explicit Session(std::unique_ptr<cuda::Device> device);
  ~Session();

  std::mutex& mutex() { return mutex_; }
  cuda::Device& device() { return *device_; }
  StringCodes& codes() { return codes_; }
  SessionCounters& counters() { return counters_; }

  /// The mirror of a timeline, shared with whoever holds it already.
  std::shared_ptr<Mirror> mirror(const history::EventStore& store,
                                 std::shared_ptr<const history::Timeline> timeline);
  /// Whether somebody holds the mirror of a timeline. Takes the mutex itself.
  bool mirrors(const history::Timeline& timeline);

  /// Begins a round: mirrors that take part from now on stay until the next one.
  void begin_round() { ++round_; }
  std::uint64_t round() const { return round_; }
  /// A page of the arena; makes room by evicting mirrors that do not take part in the round, the
  /// one that has not for longest first. Throws DeviceError when there is none.
  std::uint32_t allocate_page();
  void free_page(std::uint32_t page) { free_pages_.push_back(page); }

  /// True every second time.
  bool turn() {
    const std::lock_guard lock(mutex_);
    return turn_ = !turn_;
  }

  /// After a failure: whatever the device held counts as lost.
  void fail(const cuda::DeviceError& error);
  /// Why nothing runs on the device any more; empty: it does.
  std::string problem() const;
  /// The last failure, for people; stays valid for as long as the session.
  std::string_view failure() const;

 private:
  friend class Mirror;

  std::mutex mutex_;
  mutable std::mutex problem_mutex_;
  std::string problem_;  // guarded by problem_mutex_, as the next two
  std::set<std::string> failures_;
  std::string_view failure_;
  std::unique_ptr<cuda::Device> device_;
  StringCodes codes_;
  std::vector<std::uint32_t> free_pages_;
  std::map<const history::Timeline*, Mirror*> mirrors_;  // those that exist
  std::uint64_t round_ = 0;
  bool turn_ = false;
  SessionCounters counters_;
};

}  // namespace gorgo::engine
