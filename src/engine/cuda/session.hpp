#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/workers.hpp"
#include "cuda/device.hpp"
#include "engine/cuda/string_codes.hpp"
#include "history/timeline.hpp"

namespace gorgo::engine {

class Mirror;

/// What the session did since it was opened. Pages are counted.
struct SessionCounters {
  std::uint64_t failures = 0;    ///< batches that the CPU evaluated because the device failed
  std::uint64_t hits = 0;        ///< were there when a round needed them
  std::uint64_t uploaded = 0;    ///< were not, and had never been
  std::uint64_t swapped_in = 0;  ///< came back
  std::uint64_t prefetched =
      0;  ///< came before the round that needed them, back or for the first time
  std::uint64_t swapped_out = 0;  ///< made room for others
  std::uint64_t looks = 0;        ///< how often all pages were looked at for those that can go
};

/// A device in use: its pages, what is mirrored in them, and whether it can still be relied upon.
/// Whoever calls anything but `mutex`, `mirrors`, `problem` and the failures, and the device's
/// `shapes`, holds the mutex.
/// Mirrors keep the session alive.
///
/// Time goes in steps, each of some rounds, and mirrors know the steps that will need their pages.
/// Where there is no room, the page goes that is needed farthest ahead. If several are not known to
/// be needed, the one goes that has been in no round for longest: Belady, "A study of replacement
/// algorithms for a virtual-storage computer", IBM Systems Journal 5(2), 1966.
class Session : public std::enable_shared_from_this<Session> {
 public:
  explicit Session(std::unique_ptr<gpu::Device> device);
  ~Session();

  /// Recursive: what a plan has on the device takes it when it is destroyed, also when placing the
  /// plan fails half-way under the mutex.
  std::recursive_mutex& mutex() { return mutex_; }
  gpu::Device& device() { return *device_; }
  StringCodes& codes() { return codes_; }
  SessionCounters& counters() { return counters_; }
  std::uint32_t page_shift() const { return device_->page_shift(); }
  std::size_t pages_in_use() const { return frames_.size() - free_.size(); }

  /// The mirror of a timeline, shared with whoever holds it already.
  std::shared_ptr<Mirror> mirror(const history::EventStore& store,
                                 std::shared_ptr<const history::Timeline> timeline);
  /// Whether somebody holds the mirror of a timeline. Takes the mutex itself.
  bool mirrors(const history::Timeline& timeline);

  /// Begins a round, or several that go on at the same time. Pages that take part from here on stay
  /// until the next call. Precondition: all earlier rounds have ended.
  void begin_round();
  /// Begins a round while others may be under way. Their pages stay, too, until
  /// `end_rounds_before`.
  void begin_round_beside();
  /// Says that the rounds before that number have ended.
  void end_rounds_before(std::uint64_t round) { staying_ = round; }
  std::uint64_t round() const { return round_; }
  void begin_step() { ++step_; }
  std::uint64_t step() const { return step_; }
  /// A number that nobody has had. Any thread may call.
  std::uint64_t next_number() { return ++numbers_; }
  /// Threads for its channels, the caller's among them.
  Workers& workers() { return workers_; }

  // The functions below are for mirrors. A page of a mirror stands in a frame, a page of the arena.

  /// Throws DeviceError unless so many frames can be had.
  void make_room(std::size_t frames);
  /// Makes so many frames free if that is possible while the pages needed up to a step stay; else
  /// changes nothing and returns false.
  bool make_room_beyond(std::uint64_t step, std::size_t frames);
  /// Makes up to so many frames free, as far as the pages needed up to a step stay. Returns how
  /// many can be had. To look for pages that can go takes as long for one as for many.
  std::size_t make_room_until(std::uint64_t step, std::size_t frames);
  /// Precondition: there is room.
  std::uint32_t take_frame(Mirror& mirror, std::uint32_t vector, std::uint64_t page);
  void free_frame(std::uint32_t frame);
  /// Makes a frame take part in the round. Returns false if it does already.
  bool use(std::uint32_t frame);
  /// Orders that a frame be filled from pinned memory, with the next `fetch`.
  void order(std::uint32_t frame, const std::uint64_t* from);
  /// Begins to fetch what was ordered.
  void fetch();
  /// The fetch that the round has to wait for.
  std::uint64_t awaited() const { return awaited_; }

  /// A page of pinned memory, with anything in it.
  std::uint64_t* take_pinned();
  void free_pinned(std::uint64_t* page) { pinned_.push_back(page); }

  struct Failure {
    std::uint64_t count = 0;  ///< so far
    std::string what;
    std::string during;  ///< what was being evaluated
  };

  /// Takes notice of a failure: whatever the device held counts as lost.
  void fail(const gpu::DeviceError& error, const std::string& during);
  /// Why the device is out of use; empty if it is in use.
  std::string problem() const;
  /// The last failure, for people; stays valid for as long as the session.
  std::string_view failure() const;
  Failure last_failure() const;

 private:
  friend class Mirror;

  struct Frame {
    Mirror* owner = nullptr;  // null: free
    std::uint32_t vector = 0;
    std::uint64_t page = 0;
    std::uint64_t used_in = 0;  // round
    std::uint64_t fetch = 0;    // the fetch that brings or brought it
  };
  struct Victim {
    std::uint64_t needed_in, used_in;
    std::uint32_t frame;
  };

  std::vector<Victim> victims(std::uint64_t needed_after);
  void evict(std::size_t count, std::vector<Victim> among);

  std::recursive_mutex mutex_;
  mutable std::mutex problem_mutex_;
  std::string problem_;  // guarded by problem_mutex_, as the next three
  Failure last_failure_;
  std::set<std::string> failures_;
  std::string_view failure_;
  std::unique_ptr<gpu::Device> device_;
  StringCodes codes_;
  std::vector<Frame> frames_;  // by page of the arena
  std::vector<std::uint32_t> free_;
  std::vector<gpu::Fetch> ordered_;
  std::vector<std::uint64_t*> pinned_;                   // free ones
  std::map<const history::Timeline*, Mirror*> mirrors_;  // those that exist
  std::atomic<std::uint64_t> numbers_ = 0;
  std::uint64_t round_ = 0;
  std::uint64_t staying_ = 0;  // pages that took part in this round or a later one stay
  std::uint64_t step_ = 0;
  std::uint64_t fetches_ = 0;
  std::uint64_t awaited_ = 0;
  Workers workers_;
  SessionCounters counters_;
};

}  // namespace gorgo::engine
