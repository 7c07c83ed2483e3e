#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "cuda/device.hpp"
#include "engine/cuda/field.hpp"
#include "engine/cuda/mirror_context.hpp"
#include "engine/cuda/paged_vector.hpp"
#include "engine/cuda/word_source.hpp"
#include "history/range.hpp"

namespace gorgo::engine {

/// Whether events have an attribute, as words 0 and 1.
class PresenceWords final : public WordSource {
 public:
  PresenceWords(const history::Timeline& timeline, std::uint32_t attribute)
      : timeline_(timeline), attribute_(attribute) {}
  std::span<const std::uint64_t> words(std::uint64_t first, std::uint64_t last,
                                       std::vector<std::uint64_t>& scratch) override;

 private:
  const history::Timeline& timeline_;
  const std::uint32_t attribute_;
};

/// A field of a mirror on the device: a vector for its values, or several where it is text, and one
/// that says which events have it unless all do. A kind of field derives from it and adds its
/// vectors. Whoever calls, and whoever destroys it, holds the context's mutex.
class MirroredField {
 public:
  virtual ~MirroredField() = default;
  MirroredField(const MirroredField&) = delete;
  MirroredField& operator=(const MirroredField&) = delete;

  const Field& field() const { return field_; }
  PageSchedule& schedule() { return mirror_.schedule; }
  const PageSchedule& schedule() const { return mirror_.schedule; }

  /// How many frames of the arena these pages take.
  std::size_t frames(PageRange pages) const {
    return frames_of_values(pages) + (presence_ ? pages.size() : 0);
  }
  /// The most frames that one page takes, whatever values come.
  std::size_t most_frames() const { return most_vectors() + (presence_ ? 1 : 0); }
  /// Whether a value at one of the positions is too long to be there.
  virtual bool has_too_long(const history::Range& /*positions*/) const { return false; }

  /// Makes these pages take part in the pool's round, and loads those that are not there. Throws
  /// DeviceError.
  void need(PageRange pages);
  /// Whether these pages are there, up to date.
  bool has(PageRange pages) const;
  /// How many frames of these pages are not there.
  std::size_t absent(PageRange pages) const;
  /// How many of the absent ones could come before their step, see PagedVector.
  std::size_t missing(PageRange pages) const;
  /// Begins to fetch the first `most` of those that `missing` counts. Returns how many.
  /// Precondition: there is room.
  std::size_t prefetch(PageRange pages, std::size_t most);

  /// Says where the field stands, and adds room for its page table at the end of the round's. Any
  /// thread may call this and `write_table` while nothing changes.
  gpu::Attribute place(gpu::Round& round) const;
  /// Fills in the room that `place` added.
  void write_table(const gpu::Attribute& placed, gpu::Round& round) const;

  /// Gives every page back.
  void evict();

  // For the mirror: its positions change. An override calls what it overrides.

  /// Positions were added behind the others.
  virtual void extend();
  /// The positions before this one are going to be dropped.
  virtual void drop_before(std::uint64_t position);
  /// The positions from this one on were dropped.
  virtual void drop_from(std::uint64_t position);

 protected:
  MirroredField(const MirrorContext& mirror, const Field& field);

  const MirrorContext& mirror() const { return mirror_; }
  /// Adds a vector of values, whose source the derived class keeps.
  void add_vector(WordSource& source) { values_.emplace_back(mirror_, source); }
  std::size_t vectors() const { return values_.size(); }
  PagedVector& vector(std::size_t number) { return values_[number]; }

 private:
  virtual std::size_t frames_of_values(PageRange pages) const { return pages.size(); }
  virtual std::size_t most_vectors() const { return 1; }
  template <class F>
  void for_vectors(F f) {
    for (PagedVector& vector : values_) f(vector);
    if (presence_) f(*presence_);
  }
  template <class F>
  std::size_t sum(F f) const;

  const MirrorContext& mirror_;
  const Field field_;
  std::deque<PagedVector> values_;
  std::optional<PresenceWords> presence_words_;  // unset: all events have the field
  std::optional<PagedVector> presence_;
};

}  // namespace gorgo::engine
