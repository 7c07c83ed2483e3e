#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <numeric>
#include <span>
#include <type_traits>
#include <utility>

#include "history/page_range.hpp"

namespace gorgo::history {

/// What becomes of room that dropped elements leave: it goes back when little of it is needed for
/// those that are there, or is kept for as many as there were, until `give_back_spare`.
enum class Spare : std::uint8_t { given_back, kept };

/// A contiguous sequence whose elements keep their positions while the oldest are dropped:
/// element `p` is found at `begin() <= p < end()`. Appending and dropping are amortised O(1),
/// inserting any number of elements costs those and the elements behind.
///
/// A small sequence is a block of the heap. A large one is a range of pages, so that no change
/// copies it: pages in front whose elements are gone become its next ones. Pages that it takes from
/// the kernel are prepared while it fills those before.
template <class T>
class SlidingVector {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);

 public:
  SlidingVector() = default;
  SlidingVector(SlidingVector&& other) noexcept { swap(other); }
  SlidingVector& operator=(SlidingVector&& other) noexcept {
    SlidingVector(std::move(other)).swap(*this);
    return *this;
  }
  ~SlidingVector() { release(); }

  std::uint64_t begin() const { return base_ + dropped_; }
  std::uint64_t end() const { return base_ + size_; }
  std::uint64_t size() const { return size_ - dropped_; }

  void push_back(T item) { *grow(1) = item; }

  /// Appends so many elements, which the caller writes. Returns where they begin, valid until the
  /// next change.
  T* grow(std::size_t count) {
    if (count > room_ - size_) make_room(count);
    size_ += count;
    return items_ + (size_ - count);
  }

  /// Inserts `item(i)` before what stands at `positions[i]` now. Precondition: they ascend. Those
  /// with equal positions come in their order.
  template <class Item>
  void insert(std::span<const std::uint64_t> positions, Item&& item) {
    T* behind = grow(positions.size());
    for (std::size_t i = positions.size(); i-- > 0;) {
      assert(positions[i] >= begin() && positions[i] <= end());
      T* const at = items_ + (positions[i] - base_);
      std::copy_backward(at, behind, behind + i + 1);
      at[i] = item(i);
      behind = at;
    }
  }

  const T& operator[](std::uint64_t position) const {
    assert(position >= begin() && position < end());
    return items_[position - base_];
  }
  /// Precondition: not empty.
  T& back() {
    assert(size() > 0);
    return items_[size_ - 1];
  }
  /// Pointer to element `position`; `end()` is allowed. Valid until the next change.
  const T* at(std::uint64_t position) const {
    assert(position >= begin() && position <= end());
    return items_ + (position - base_);
  }

  /// Drops every element before `position` (at most `end()`).
  void drop_before(std::uint64_t position, Spare spare = Spare::given_back) {
    if (position <= begin()) return;
    assert(position <= end());
    dropped_ = position - base_;
    if (is_mapped()) {
      give_back();
    } else if (dropped_ >= kSlack && dropped_ * 2 >= size_) {
      compact(spare);
    }
  }
  /// Gives back room that was kept, and that the elements do not need.
  void give_back_spare() {
    if (!is_mapped() && is_roomy_for(size())) return_to_heap();
  }

  /// Starts counting at `position`. Precondition: empty and never used.
  void start_at(std::uint64_t position) { base_ = position; }

  /// Makes room for so many elements at once.
  void reserve(std::size_t count) {
    if (count > room_) set_room(count);
  }

  /// As allocated; room that was never used costs no memory when it is large.
  std::size_t bytes() const { return is_mapped() ? pages_->size() : room_ * sizeof(T); }

 private:
  static constexpr std::size_t kSlack = 64;
  static constexpr std::size_t kSmallest = 4;
  static constexpr std::size_t kPage = PageRange::kPage;
  /// Bytes of a sequence that is on the heap: less than any range of pages has room for. One that
  /// has come to a quarter of it returns there.
  static constexpr std::size_t kMostOnHeap = kPage - kPage / 32;
  static_assert(sizeof(T) < kPage / 32);
  /// Pages in front go behind, or back, where they hold whole elements.
  static constexpr std::size_t kStep = std::lcm(kPage, sizeof(T));

  bool is_mapped() const { return pages_ != nullptr; }
  /// Behind the room there is a page that is prepared when it becomes room.
  static std::size_t bytes_for(std::size_t room) {
    return PageRange::in_pages(room * sizeof(T)) + kPage;
  }
  static std::size_t room_in(const PageRange& pages) { return (pages.size() - kPage) / sizeof(T); }
  static T* items_in(const PageRange& pages) { return reinterpret_cast<T*>(pages.begin()); }

  void swap(SlidingVector& other) noexcept {
    std::swap(pages_, other.pages_);
    std::swap(items_, other.items_);
    std::swap(room_, other.room_);
    std::swap(size_, other.size_);
    std::swap(base_, other.base_);
    std::swap(dropped_, other.dropped_);
  }

  void release() {
    if (!is_mapped()) ::operator delete(items_);
    pages_ = nullptr;
  }

  /// Where a quarter is gone already, the place that it leaves is enough on the heap; then an
  /// element is moved at most three times as often as one is appended.
  void make_room(std::size_t count) {
    if (!is_mapped() && dropped_ >= kSlack && dropped_ * 4 >= size_) compact(Spare::kept);
    const std::size_t size = size_ + count;
    if (size > room_) set_room(size + size_ / (is_mapped() ? 8 : 2) + kSmallest);
  }

  /// Precondition: more than there is.
  void set_room(std::size_t room) {
    if (room * sizeof(T) <= kMostOnHeap) return take(on_heap(room), room, 0);
    if (!is_mapped()) return map(room);
    pages_->grow(bytes_for(room));
    items_ = items_in(*pages_);
    room_ = room_in(*pages_);
  }

  /// Goes from the heap to pages.
  void map(std::size_t room) {
    const std::size_t first = PageRange::next_beginning() / sizeof(T);
    auto pages = std::make_unique<PageRange>(bytes_for(first + room));
    take(items_in(*pages), room_in(*pages), first);
    pages_ = std::move(pages);
    pages_->prepare(PageRange::in_pages(size_ * sizeof(T)));
  }

  static T* on_heap(std::size_t room) { return static_cast<T*>(::operator new(room * sizeof(T))); }

  /// Moves the elements to this room, where they begin at place `first`.
  void take(T* items, std::size_t room, std::size_t first) {
    if (size() > 0) std::memcpy(items + first, items_ + dropped_, size() * sizeof(T));
    release();
    items_ = items;
    room_ = room;
    base_ += dropped_ - first;  // the position of a place that is not used may be below 0
    size_ += first - dropped_;
    dropped_ = first;
  }

  /// Has pages that hold nothing any more become the next ones, where few of those are left, and
  /// gives the others back.
  void give_back() {
    if (size() * sizeof(T) < kMostOnHeap / 4) return return_to_heap();
    const std::size_t front = dropped_ * sizeof(T) / kStep * kStep;
    if (front == 0) return;
    const std::size_t few = std::max(kStep, size() * sizeof(T) / 8);
    if (front > few || (room_ - size_) * sizeof(T) >= few || !pages_->turn(front)) {
      pages_->drop_front(front);
    }
    const std::size_t elements = front / sizeof(T);
    items_ = items_in(*pages_);
    room_ = room_in(*pages_);
    size_ -= elements;
    dropped_ -= elements;
    base_ += elements;
    give_back_behind();
  }

  void give_back_behind() {
    if (room_ - size_ <= 4 * size()) return;
    const std::size_t wanted = bytes_for(size_ + size());
    if (wanted >= pages_->size()) return;
    pages_->drop_back(pages_->size() - wanted);
    room_ = room_in(*pages_);
  }

  void return_to_heap() {
    const std::size_t room = 2 * size() + kSmallest;
    void* const items = ::operator new(room * sizeof(T), std::nothrow);
    if (items != nullptr) take(static_cast<T*>(items), room, 0);
  }

  bool is_roomy_for(std::size_t elements) const { return room_ > 4 * (elements + kSlack); }

  void compact(Spare spare) {
    const std::size_t used = size_;
    std::memmove(items_, items_ + dropped_, size() * sizeof(T));
    size_ -= dropped_;
    base_ += dropped_;
    dropped_ = 0;
    if (is_roomy_for(spare == Spare::kept ? used : size_)) return_to_heap();
  }

  std::unique_ptr<PageRange> pages_;  // null: on the heap
  T* items_ = nullptr;
  std::size_t room_ = 0;     // elements
  std::size_t size_ = 0;     // elements, dropped ones included
  std::uint64_t base_ = 0;   // position of items_[0]
  std::size_t dropped_ = 0;  // leading elements that are gone
};

}  // namespace gorgo::history
