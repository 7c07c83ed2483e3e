#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <new>
#include <span>
#include <utility>
#include <vector>

namespace gorgo {

/// A list that copies share: a copy takes a pointer. It has just the memory that its items need,
/// none where it is empty. What is to be changed is made one's own first.
///
/// Thread-safety: different threads may use different copies at the same time, although copies
/// share memory.
template <class T>
class SharedList {
 public:
  using value_type = T;

  SharedList() = default;
  SharedList(std::initializer_list<T> items) : SharedList(std::vector<T>(items)) {}
  SharedList(std::vector<T> items) {
    if (items.empty()) return;
    head_ = allocate(items.size());
    std::uninitialized_move(items.begin(), items.end(), first());
    head_->size = static_cast<std::uint32_t>(items.size());
  }
  SharedList(const SharedList& other) noexcept : head_(other.head_) {
    if (head_ != nullptr) head_->owners.fetch_add(1, std::memory_order_relaxed);
  }
  SharedList(SharedList&& other) noexcept : head_(std::exchange(other.head_, nullptr)) {}
  SharedList& operator=(SharedList other) noexcept {
    std::swap(head_, other.head_);
    return *this;
  }
  ~SharedList() {
    if (head_ == nullptr || head_->owners.fetch_sub(1, std::memory_order_acq_rel) > 1) return;
    std::destroy_n(first(), head_->size);
    ::operator delete(head_);
  }

  std::size_t size() const { return head_ == nullptr ? 0 : head_->size; }
  bool empty() const { return head_ == nullptr; }
  const T* data() const { return head_ == nullptr ? nullptr : first(); }
  const T* begin() const { return data(); }
  const T* end() const { return data() + size(); }
  /// Precondition: `index < size()`.
  const T& operator[](std::size_t index) const { return first()[index]; }

  /// The items, to be changed. What others share is copied before. Valid until this list is copied
  /// or assigned to.
  std::span<T> own() {
    if (head_ == nullptr) return {};
    if (head_->owners.load(std::memory_order_acquire) > 1) {
      *this = SharedList(std::vector<T>(begin(), end()));
    }
    return {first(), head_->size};
  }

 private:
  struct Head {
    std::atomic<std::uint32_t> owners{1};
    std::uint32_t size = 0;
  };
  static_assert(sizeof(Head) == 8);

  static Head* allocate(std::size_t items) {
    static_assert(alignof(T) <= sizeof(Head));
    return new (::operator new(sizeof(Head) + items * sizeof(T))) Head;
  }
  T* first() const { return reinterpret_cast<T*>(head_ + 1); }

  Head* head_ = nullptr;
};

}  // namespace gorgo
