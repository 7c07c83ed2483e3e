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
#include "history/range.hpp"
#include "history/timeline.hpp"

namespace gorgo::engine {

/// Pages of a column, by position / page size: [first, last).
struct PageRange {
  std::uint64_t first = 0, last = 0;

  std::uint64_t size() const { return last - first; }
  bool contains(std::uint64_t page) const { return page >= first && page < last; }
};

/// A timeline's attributes on a device, in pages that come and go one by one. Positions are those
/// of the timeline. Whoever calls holds the session's mutex, which the destructor takes itself.
///
/// Text stands in a vector for each part of the longest string (cuda/layout.hpp). A page of a part
/// that no string of these positions has is never there, and never looked at.
class Mirror : public std::enable_shared_from_this<Mirror> {
 public:
  static constexpr std::uint64_t kNever = ~std::uint64_t{0};
  static constexpr std::uint64_t kUnmarked = std::numeric_limits<std::int64_t>::max();
  /// The most bytes of a string whose text can be there.
  static constexpr std::size_t kLongestText = 256;

  Mirror(std::shared_ptr<Session> session, const history::EventStore& store,
         std::shared_ptr<const history::Timeline> timeline);
  ~Mirror();
  Mirror(const Mirror&) = delete;
  Mirror& operator=(const Mirror&) = delete;

  /// Mirrors a further attribute: one of the type (which the timeline has materialised), with kText
  /// or without, kTimestamps or kRoots. Returns its number in the mirror.
  std::uint32_t add(std::uint32_t attribute);
  /// Takes notice of what is new in the timeline and gone from it. Call it before anything below
  /// when the timeline may have changed.
  void sync();
  /// The position behind the last mirrored one.
  std::uint64_t end() const { return first_ + mirrored_.size(); }

  /// Adds marks: an attribute whose words, kUnmarked where nothing is said, come from its owner
  /// alone. Returns its number in the mirror, which other marks may get once these are removed.
  std::uint32_t add_marks();
  void remove_marks(std::uint32_t number);
  /// The position from which on these marks say nothing: events there are new, or others than
  /// before.
  std::uint64_t fresh_marks(std::uint32_t number) const {
    return std::max(first_, attributes_[number].fresh);
  }
  /// Precondition of the next two: the mirror is in step with the timeline, in this round.
  void mark(std::uint32_t number, std::uint64_t position, std::uint64_t word);
  /// Uploads the marks that changed, where their pages are. Throws DeviceError.
  void upload_marks(std::uint32_t number);

  /// The pages of positions that the timeline holds.
  PageRange pages_of(const history::Range& positions) const {
    return {page_of(positions.first),
            positions.empty() ? page_of(positions.first) : page_of(positions.last - 1) + 1};
  }
  /// How many pages of the arena these take: two each where events may lack the attribute, and more
  /// where it is text.
  std::size_t frames(std::uint32_t attribute, PageRange pages) const;
  /// The most pages of the arena that one page of an attribute takes, whatever strings come.
  std::size_t most_frames(std::uint32_t attribute) const {
    const Attribute& of = attributes_[attribute];
    return (is_text(of.index) ? kMostParts : 1) + (of.is_nullable ? 1 : 0);
  }
  /// Whether a string at one of the positions is too long for its text to be there.
  bool has_long_text(std::uint32_t attribute, const history::Range& positions) const;

  /// Says that a step needs these pages. Steps are named in their order.
  void expect(std::uint64_t step, PageRange pages);
  /// The first step from the session's on that needs the page, as far as is known.
  std::uint64_t needed_in(std::uint64_t page) const;

  /// Makes the pages of an attribute take part in the session's round, and loads those that are not
  /// there. Throws DeviceError.
  void need(std::uint32_t attribute, PageRange pages);
  /// Whether these pages of an attribute are there, up to date.
  bool has(std::uint32_t attribute, PageRange pages) const;
  /// How many of these pages of an attribute are not there.
  std::size_t absent(std::uint32_t attribute, PageRange pages) const;
  /// How many of the absent ones could come before their step: full ones, and none of marks, which
  /// are not known before.
  std::size_t missing(std::uint32_t attribute, PageRange pages) const;
  /// Begins to fetch the first `most` of those that `missing` counts. Returns how many.
  /// Precondition: there is room.
  std::size_t prefetch(std::uint32_t attribute, PageRange pages, std::size_t most);

  /// Says where an attribute stands, and adds room for its page table at the end of the round's.
  /// Any thread may call this and `write_table` while nothing changes.
  gpu::Attribute place(std::uint32_t attribute, gpu::Round& round) const;
  /// Fills in the room that `place` added.
  void write_table(std::uint32_t attribute, const gpu::Attribute& placed, gpu::Round& round) const;

  /// Gives every page back.
  void evict();
  /// Gives one page back; the session calls it.
  void evict(std::uint32_t vector, std::uint64_t page);
  /// The round that it last took part in.
  std::uint64_t used_in() const { return used_in_; }

 private:
  static constexpr std::uint32_t kAbsent = ~std::uint32_t{0};
  /// These stand in the place of an attribute's index.
  static constexpr std::uint32_t kMarks = kRoots - 1, kUnused = kRoots - 2;
  /// This stands in the place of a part.
  static constexpr std::uint32_t kPresence = ~std::uint32_t{0};
  /// How many parts every text has, and how many it can have: the length, and its words.
  static constexpr std::uint32_t kFewestParts = 2, kMostParts = 1 + kLongestText / 8;

  struct Page {
    std::uint32_t frame = kAbsent;
    bool was_there = false;
    std::uint64_t written = 0;      // up to this position, if it is there
    std::uint64_t* copy = nullptr;  // in pinned memory
    std::uint64_t copied = 0;       // up to this position, if there is a copy
  };
  /// What stands in pages: the values of an attribute, a part of its text, or whether events have
  /// it.
  struct Vector {
    std::uint32_t attribute;  // number
    std::uint32_t part;       // of a text, kPresence, else 0
    std::deque<Page> pages = {};
  };
  struct Attribute {
    std::uint32_t index;
    bool is_string = false;
    bool is_nullable = false;
    std::vector<std::uint32_t> values = {};  // vectors; of text, by part
    std::uint32_t presence = 0;              // vector, if it is nullable
    std::deque<std::uint64_t> words = {};    // codes of strings (0: none yet) or marks, by position
    std::uint64_t fresh = 0;                 // from here on marks say nothing
    std::vector<std::uint64_t> marked = {};  // positions whose marks changed
    std::deque<std::uint32_t> parts = {};    // by page: how many parts its texts have
    std::deque<std::uint64_t> too_long = {};  // positions of texts, ascending
    std::uint64_t noted = 0;                  // the last two know the texts up to here

    bool has_words() const { return is_string || index == kMarks; }
    /// The index of the type's attribute.
    std::uint32_t of_type() const { return is_text(index) ? index & ~kText : index; }
  };
  struct Expected {
    std::uint64_t step;
    PageRange pages;
  };

  std::uint64_t page_of(std::uint64_t position) const { return position >> shift_; }
  /// Pages that hold mirrored positions.
  std::size_t page_count() const {
    return mirrored_.empty() ? 0 : page_of(end() - 1) - page_of(first_) + 1;
  }
  Page& page(Vector& vector, std::uint64_t number) {
    return vector.pages[number - page_of(first_)];
  }
  const Page& page(const Vector& vector, std::uint64_t number) const {
    return vector.pages[number - page_of(first_)];
  }
  std::uint64_t end_of(std::uint64_t page) const { return std::min(end(), (page + 1) << shift_); }
  bool is_full(std::uint64_t page) const { return (page + 1) << shift_ <= end(); }
  /// Calls f(number of the vector, vector) for the vectors of an attribute.
  template <class F>
  void for_vectors(std::uint32_t attribute, F f) {
    const Attribute& of = attributes_[attribute];
    for (const std::uint32_t number : of.values) f(number, vectors_[number]);
    if (of.is_nullable) f(of.presence, vectors_[of.presence]);
  }
  /// Whether a search can look at a page of a vector.
  bool is_used(const Vector& vector, std::uint64_t page) const {
    const Attribute& of = attributes_[vector.attribute];
    return !is_text(of.index) || vector.part == kPresence ||
           vector.part < of.parts[page - page_of(first_)];
  }
  std::uint32_t add_vector(std::uint32_t attribute, std::uint32_t part);

  /// The first mirrored position whose event is another one in the timeline; `end()` if there is
  /// none.
  std::uint64_t changed_from() const;
  void drop_before(std::uint64_t position);
  void drop_from(std::uint64_t position);
  void append_until(std::uint64_t position);
  /// Makes words for all mirrored positions, and vectors for all texts.
  void make_room(std::uint32_t attribute);
  void note_texts(std::uint32_t attribute);
  void forget_texts_from(Attribute& attribute, std::uint64_t position) const;
  void forget(Page& page);

  void need(std::uint32_t number, Vector& vector, PageRange pages);
  void load(std::uint32_t number, Vector& vector, std::uint64_t at);
  void fetch(std::uint32_t number, Vector& vector, std::uint64_t at);
  void write(Vector& vector, std::uint64_t at, std::uint64_t first);
  std::span<const std::uint64_t> words(const Vector& vector, std::uint64_t first,
                                       std::uint64_t last);
  std::span<const std::uint64_t> text_words(const Vector& vector, std::uint64_t first,
                                            std::uint64_t last);
  std::uint64_t code(Attribute& attribute, std::uint64_t position);
  void release_code(std::uint64_t code);

  std::shared_ptr<Session> session_;
  const history::EventStore& store_;
  std::shared_ptr<const history::Timeline> timeline_;
  const std::uint32_t shift_;
  std::vector<Attribute> attributes_;
  std::vector<Vector> vectors_;
  std::uint64_t first_ = 0;             // position of mirrored_[0], which is in the first page
  std::deque<history::Slot> mirrored_;  // the event at each position
  std::deque<Expected> expected_;       // by step
  std::uint64_t used_in_ = 0;
  std::vector<std::uint64_t> scratch_;
};

}  // namespace gorgo::engine
