#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/huge_allocator.hpp"

namespace gorgo::history {

/// A contiguous sequence whose elements keep their positions while the oldest are dropped:
/// element `p` is found at `begin() <= p < end()`. Appending and dropping are amortised O(1),
/// inserting costs the elements behind.
template <class T>
class SlidingVector {
 public:
  std::uint64_t begin() const { return base_ + dropped_; }
  std::uint64_t end() const { return base_ + items_.size(); }
  std::uint64_t size() const { return items_.size() - dropped_; }

  void push_back(T item) { *grow(1) = item; }

  /// Appends so many elements, which the caller writes. Returns where they begin, valid until the
  /// next change.
  T* grow(std::size_t count) {
    if (items_.size() + count > items_.capacity()) make_room(count);
    items_.resize(items_.size() + count);
    return items_.data() + (items_.size() - count);
  }

  /// Inserts before `position`; the elements from there on move up by one.
  void insert(std::uint64_t position, T item) {
    assert(position >= begin() && position <= end());
    if (position == end()) return push_back(item);
    if (items_.size() == items_.capacity()) make_room(1);
    items_.insert(items_.begin() + static_cast<std::ptrdiff_t>(position - base_), item);
  }

  const T& operator[](std::uint64_t position) const {
    assert(position >= begin() && position < end());
    return items_[position - base_];
  }
  /// Precondition: not empty.
  T& back() {
    assert(size() > 0);
    return items_.back();
  }
  /// Pointer to element `position`; `end()` is allowed. Valid until the next change.
  const T* at(std::uint64_t position) const { return items_.data() + (position - base_); }

  /// Drops every element before `position` (at most `end()`).
  void drop_before(std::uint64_t position) {
    if (position <= begin()) return;
    assert(position <= end());
    dropped_ = position - base_;
    if (dropped_ >= kSlack && dropped_ * 2 >= items_.size()) compact();
  }

  /// Starts counting at `position`. Precondition: empty and never used.
  void start_at(std::uint64_t position) { base_ = position; }

  /// Makes room for so many elements at once.
  void reserve(std::size_t count) { items_.reserve(count); }

  std::size_t bytes() const { return items_.capacity() * sizeof(T); }

 private:
  static constexpr std::size_t kSlack = 64;
  static constexpr std::size_t kSmallest = 4;

  /// Where a quarter is gone already, the place that it leaves is enough; then an element is moved
  /// at most three times as often as one is appended.
  void make_room(std::size_t count) {
    if (dropped_ >= kSlack && dropped_ * 4 >= items_.size()) compact();
    const std::size_t size = items_.size() + count;
    if (size <= items_.capacity()) return;
    items_.reserve(std::max(size, items_.capacity() + items_.capacity() / 2 + kSmallest));
  }

  void compact() {
    items_.erase(items_.begin(), items_.begin() + static_cast<std::ptrdiff_t>(dropped_));
    base_ += dropped_;
    dropped_ = 0;
    if (items_.capacity() > 4 * (items_.size() + kSlack)) items_.shrink_to_fit();
  }

  std::vector<T, HugeAllocator<T>> items_;
  std::uint64_t base_ = 0;   // position of items_[0]
  std::size_t dropped_ = 0;  // leading elements of items_ that are gone
};

}  // namespace gorgo::history
