#pragma once

#include <cstddef>
#include <new>
#include <utility>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace gorgo {

/// An allocator that asks for huge pages where memory is large: what is read here and there then
/// misses the address cache of the processor less often. Numbers that `resize` adds have no value
/// yet: whoever makes room writes them.
template <class T>
struct HugeAllocator {
  using value_type = T;

  HugeAllocator() = default;
  template <class U>
  HugeAllocator(const HugeAllocator<U>&) {}  // NOLINT: converts, as allocators must

  T* allocate(std::size_t count) {
    const std::size_t bytes = count * sizeof(T);
    if (bytes < kLarge) return static_cast<T*>(::operator new(bytes));
    void* const memory = ::operator new(bytes, kHugePage);
#if defined(__linux__)
    madvise(memory, bytes, MADV_HUGEPAGE);  // a hint: small pages serve as well
#endif
    return static_cast<T*>(memory);
  }
  template <class U>
  void construct(U* at) {
    ::new (static_cast<void*>(at)) U;
  }
  template <class U, class... Arguments>
  void construct(U* at, Arguments&&... arguments) {
    ::new (static_cast<void*>(at)) U(std::forward<Arguments>(arguments)...);
  }
  void deallocate(T* memory, std::size_t count) {
    if (count * sizeof(T) < kLarge) return ::operator delete(memory);
    ::operator delete(memory, kHugePage);
  }

  friend bool operator==(const HugeAllocator&, const HugeAllocator&) { return true; }

 private:
  static constexpr std::align_val_t kHugePage{2 * 1024 * 1024};
  static constexpr std::size_t kLarge = static_cast<std::size_t>(kHugePage);
};

}  // namespace gorgo
