#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "cuda/device.hpp"

namespace gorgo::engine {

class PagedVector;

/// What a pool of pages did since it was made. Pages are counted.
struct PageCounters {
  std::uint64_t hits = 0;             ///< were there when a round needed them
  std::uint64_t uploaded = 0;         ///< were not there, and had never been
  std::uint64_t swapped_in = 0;       ///< came back
  std::uint64_t prefetched = 0;       ///< came, for the first time or back, before their round
  std::uint64_t swapped_out = 0;      ///< made room for others
  std::uint64_t victim_searches = 0;  ///< how often all frames were looked at for those that can go
};

/// The pages of a device's arena, each a frame that holds a page of some vector, and the pinned
/// memory from which pages come back. Whoever calls holds the context's mutex.
///
/// Time goes in steps, each of some rounds, and vectors know the steps that will need their pages.
/// Where there is no room, the page goes that is needed farthest ahead. If several are not known to
/// be needed, the one goes that has been in no round for longest: Belady, "A study of replacement
/// algorithms for a virtual-storage computer", IBM Systems Journal 5(2), 1966.
class PagePool {
 public:
  explicit PagePool(gpu::Device& device);

  PageCounters& counters() { return counters_; }
  const PageCounters& counters() const { return counters_; }
  std::size_t in_use() const { return frames_.size() - free_.size(); }

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

  /// Throws DeviceError unless so many frames can be had.
  void make_room(std::size_t frames);
  /// Makes so many frames free if that is possible while the pages needed up to a step stay; else
  /// changes nothing and returns false.
  bool make_room_beyond(std::uint64_t step, std::size_t frames);
  /// Makes up to so many frames free, as far as the pages needed up to a step stay. Returns how
  /// many can be had. To look for pages that can go takes as long for one as for many.
  std::size_t make_room_until(std::uint64_t step, std::size_t frames);

  /// Gives a frame to a page of a vector. Precondition: there is room.
  std::uint32_t take(PagedVector& owner, std::uint64_t page);
  void free(std::uint32_t frame);
  /// Makes a frame take part in the round. Returns false if it does already.
  bool use(std::uint32_t frame);

  /// Orders that a frame be filled from pinned memory, with the next `fetch`.
  void order(std::uint32_t frame, const std::uint64_t* from);
  /// Begins to fetch what was ordered. Throws DeviceError.
  void fetch();
  /// Gives up what was ordered.
  void forget_orders() { ordered_.clear(); }
  /// The fetch that the round has to wait for.
  std::uint64_t awaited() const { return awaited_; }

  /// A page of pinned memory, with anything in it. Throws DeviceError.
  std::uint64_t* take_pinned();
  void free_pinned(std::uint64_t* page) { pinned_.push_back(page); }

 private:
  struct Frame {
    PagedVector* owner = nullptr;  // null: free
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

  gpu::Device& device_;
  std::vector<Frame> frames_;  // by page of the arena
  std::vector<std::uint32_t> free_;
  std::vector<gpu::Fetch> ordered_;
  std::vector<std::uint64_t*> pinned_;  // free ones
  std::uint64_t round_ = 0;
  std::uint64_t staying_ = 0;  // pages that took part in this round or a later one stay
  std::uint64_t step_ = 0;
  std::uint64_t fetches_ = 0;
  std::uint64_t awaited_ = 0;
  PageCounters counters_;
};

}  // namespace gorgo::engine
