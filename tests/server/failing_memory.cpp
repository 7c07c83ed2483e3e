#include "failing_memory.hpp"

#include <atomic>
#include <cstdlib>
#include <new>

namespace {

/// The allocation that fails, counted from the next one: 1; 0: none.
std::atomic<long> failing = 0;
/// Allocations of more bytes fail; 0: all sizes may succeed.
std::atomic<std::size_t> largest = 0;
/// Set while allocations of this thread must not fail.
thread_local bool spared = false;

bool fails() {
  if (spared) return false;
  long left = failing.load();
  while (left > 0) {
    if (failing.compare_exchange_weak(left, left - 1)) return left == 1;
  }
  return false;
}

/// As the standard demands: the handler is called until there is memory or it gives up.
template <class Allocate>
void* allocate(std::size_t size, Allocate allocate) {
  const std::size_t most = spared ? 0 : largest.load();
  const bool too_large = most > 0 && size > most;
  for (bool failed = fails();; failed = false) {
    if (void* const memory = failed || too_large ? nullptr : allocate()) return memory;
    const auto handler = std::get_new_handler();
    if (handler == nullptr) throw std::bad_alloc();
    handler();
  }
}

}  // namespace

void* operator new(std::size_t size) {
  return allocate(size, [=] { return std::malloc(size == 0 ? 1 : size); });
}
void* operator new(std::size_t size, std::align_val_t alignment) {
  const auto to = static_cast<std::size_t>(alignment);
  return allocate(size, [=] { return std::aligned_alloc(to, (size + to - 1) / to * to); });
}
// A sanitizer that kept this one to itself would miss what the operators below free.
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  return fails() ? nullptr : std::malloc(size == 0 ? 1 : size);
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }

namespace gorgo::server {

Failing::Failing(long n) { failing = n; }
Failing::~Failing() { failing = 0; }
bool Failing::failed() const { return failing == 0; }

Limiting::Limiting(std::size_t most) { largest = most; }
Limiting::~Limiting() { largest = 0; }

Sparing::Sparing() : before_(spared) { spared = true; }
Sparing::~Sparing() { spared = before_; }

}  // namespace gorgo::server
