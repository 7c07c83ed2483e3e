#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "cuda/device.hpp"
#include "engine/cuda/program.hpp"
#include "engine/cuda/session.hpp"
#include "history/timeline.hpp"

namespace gorgo::engine {

/// A timeline's attributes on a device, in pages. Positions are those of the timeline. Whoever
/// calls holds the session's mutex, destruction aside.
class Mirror : public std::enable_shared_from_this<Mirror> {
 public:
  static constexpr std::uint64_t kUnmarked = std::numeric_limits<std::int64_t>::max();

  Mirror(std::shared_ptr<Session> session, const history::EventStore& store,
         std::shared_ptr<const history::Timeline> timeline);
  ~Mirror();
  Mirror(const Mirror&) = delete;
  Mirror& operator=(const Mirror&) = delete;

  /// Has a further attribute mirrored: one of the type (which the timeline has materialised),
  /// kTimestamps or kRoots. Returns its number in the mirror.
  std::uint32_t add(std::uint32_t attribute);
  /// Brings the device in step with the timeline and takes part in the session's round: uploads
  /// what is new, and what stands behind a late event once more. Throws DeviceError.
  void sync();

  /// Adds marks: an attribute whose words, kUnmarked where nothing is said, come from its owner
  /// alone. Returns its number in the mirror, which is given again once it is removed.
  std::uint32_t add_marks();
  void remove_marks(std::uint32_t number);
  /// From here on the marks are gone: events are new, or others stand there.
  std::uint64_t fresh_marks(std::uint32_t number) const {
    return std::max(first_, attributes_[number].fresh);
  }
  /// Preconditions of the next two: in step with the timeline, in this round.
  void mark(std::uint32_t number, std::uint64_t position, std::uint64_t word);
  /// Uploads the marks that changed. Throws DeviceError.
  void upload_marks(std::uint32_t number);

  /// Where an attribute stands, with its page table appended to the round's.
  cuda::Attribute place(std::uint32_t number, cuda::Round& round) const;

  /// Behind the last mirrored position.
  std::uint64_t end() const { return first_ + mirrored_.size(); }
  /// Gives every page back; the next `sync` uploads everything.
  void evict();
  /// How many pages it needs to hold the timeline.
  std::uint64_t pages_needed() const;
  bool holds_pages() const { return !mirrored_.empty(); }
  /// The round that it last took part in.
  std::uint64_t used_in() const { return used_in_; }

 private:
  using Pages = std::deque<std::uint32_t>;
  /// Instead of an attribute's index.
  static constexpr std::uint32_t kMarks = kRoots - 1, kUnused = kRoots - 2;

  struct Attribute {
    std::uint32_t index;
    bool is_string = false;
    bool is_nullable = false;
    Pages pages = {};
    Pages present = {};                      // empty unless nullable
    std::deque<std::uint64_t> words = {};    // codes of strings (0: none) or marks, by position
    std::uint64_t fresh = 0;                 // from here on the device has no marks
    std::vector<std::uint64_t> marked = {};  // positions whose marks the device has not, before it

    bool has_words() const { return is_string || index == kMarks; }
  };

  std::uint32_t place_in(std::uint32_t number, Attribute attribute);
  std::uint64_t page_of(std::uint64_t position) const { return position >> shift_; }
  /// The first mirrored position where another event stands now; `end()` if there is none.
  std::uint64_t changed_from() const;
  void drop_before(std::uint64_t position);
  void drop_from(std::uint64_t position);
  void append_until(std::uint64_t position);
  /// Words for all mirrored positions.
  void make_room(Attribute& attribute) const;
  void append(Attribute& attribute, std::uint64_t first, std::uint64_t last);
  void write(Pages& pages, std::uint64_t first, std::span<const std::uint64_t> words);
  std::span<const std::uint64_t> words(Attribute& attribute, std::uint64_t first,
                                       std::uint64_t last);
  std::span<const std::uint64_t> present(const Attribute& attribute, std::uint64_t first,
                                         std::uint64_t last);
  void release_code(std::uint64_t code);
  void free_front(Pages& pages);
  void free_back(Pages& pages);

  std::shared_ptr<Session> session_;
  const history::EventStore& store_;
  std::shared_ptr<const history::Timeline> timeline_;
  const std::uint32_t shift_;
  std::vector<Attribute> attributes_;
  std::uint64_t first_ = 0;             // position of mirrored_[0], which is in pages[0]
  std::deque<history::Slot> mirrored_;  // the event at each position
  std::uint64_t used_in_ = 0;
  std::vector<std::uint64_t> scratch_;
};

}  // namespace gorgo::engine
