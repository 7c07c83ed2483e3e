#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "dispatch/evaluate/batch.hpp"
#include "gorgo/value.hpp"

namespace gorgo::dispatch {

/// Records up to a root and, in that root, up to a depth.
struct Bound {
  std::uint64_t root;
  std::uint32_t depth;

  bool admits(const Record& r) const {
    return r.root < root || (r.root == root && r.depth <= depth);
  }
};

/// The part of a batch whose composites are held at once: its roots from `front` up to a cut. Owns
/// the cut, and the account of what the composites of the batch take.
///
/// Invariant: the cut only moves towards `front` while the wave lasts, so that what is behind it
/// needs no evaluation before the next wave.
class Wave {
 public:
  static constexpr std::uint64_t kNoCut = ~std::uint64_t{0};
  /// Bytes that a composite takes in the batch and in lists of its records, its cells aside.
  static constexpr std::size_t kBesideComposite = sizeof(Record) + 4 * sizeof(std::uint32_t);
  /// What is in the batch.
  struct Contents {
    std::size_t roots = 0, composites = 0, composite_cells = 0;
  };

  /// `max_held_bytes`: of composites; the wave is cut there.
  explicit Wave(std::size_t max_held_bytes) : max_held_bytes_(max_held_bytes) {}

  /// Starts on a batch of primitive events, which must stay until it is empty.
  void start(Batch& batch) {
    batch_ = &batch;
    is_first_ = true;
    contents_ = {.roots = batch.records.size()};
  }
  /// Begins the next wave of the batch, of so many roots if there was another one before: what is
  /// evaluated beyond the next cut only takes room, or is evaluated again.
  void begin(std::size_t roots) {
    const std::uint64_t before = std::exchange(front_, batch_->records.front().root);
    const bool is_first = std::exchange(is_first_, false);
    const bool goes_on = !is_first && before == front_;
    cut_ = is_first ? kNoCut : front_ + (goes_on ? 1 : roots);
    extra_ = goes_on ? extra_of_a_root() : 0;
  }

  Batch& batch() const { return *batch_; }
  /// The first root of the wave.
  std::uint64_t front() const { return front_; }
  bool contains(const Record& record) const { return record.root < cut_; }
  /// Has the wave end before this root.
  void cut_before(std::uint64_t root) { cut_ = std::min(cut_, root); }
  bool is_cut() const { return cut_ != kNoCut; }
  /// Whether the record is at its end once the wave is.
  bool finishes(const Record& record) const { return contains(record) && !record.dropped; }
  /// Whether the wave has brought any root to its end.
  bool has_finished() const { return cut_ > front_; }

  const Contents& contents() const { return contents_; }
  void set_contents(const Contents& contents) { contents_ = contents; }
  void add_composites(std::size_t count) { contents_.composites += count; }
  void add_composite_cells(std::size_t count) { contents_.composite_cells += count; }
  std::size_t held_bytes() const {
    return contents_.composites * kBesideComposite + contents_.composite_cells * sizeof(Datum);
  }
  bool holds_too_much() const { return held_bytes() >= max_held_bytes_; }
  /// Bytes of composites that may be added whatever is held, see engine::HeldBytes.
  std::size_t extra() const { return extra_; }
  /// These bytes for a root that is evaluated piece by piece.
  std::size_t extra_of_a_root() const { return max_held_bytes_ / 2; }

 private:
  const std::size_t max_held_bytes_;
  Batch* batch_ = nullptr;
  bool is_first_ = true;  // of the batch
  std::uint64_t front_ = 0;
  std::uint64_t cut_ = 0;  // the wave ends before this root
  std::size_t extra_ = 0;
  Contents contents_;
};

}  // namespace gorgo::dispatch
