#include "history/mapped_memory.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cassert>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <new>
#include <thread>

namespace gorgo::history::mapped_memory {
namespace {

/// An unused range that begins at a multiple of a page, or null. `spare` bytes behind it are free
/// for a moment, so that a limit of the address space has room for them.
std::byte* find_range(std::size_t bytes, int protection, std::size_t spare = 0) {
  const std::size_t all = bytes + spare + kPage;
  void* const found = mmap(nullptr, all, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (found == MAP_FAILED) return nullptr;
  auto* const begin = static_cast<std::byte*>(found);
  const std::size_t before = (kPage - reinterpret_cast<std::uintptr_t>(begin) % kPage) % kPage;
  if (before > 0) munmap(begin, before);
  munmap(begin + before + bytes, all - before - bytes);
  return begin + before;
}

/// Tries as `operator new` does: whoever can free memory is asked to.
template <class Attempt>
std::byte* insist(Attempt attempt) {
  while (true) {
    if (std::byte* const memory = attempt()) return memory;
    const auto handler = std::get_new_handler();
    if (handler == nullptr) throw std::bad_alloc();
    handler();
  }
}

// With GCC, `no_sanitize` hides atomic operations from ThreadSanitizer, too. Clang has another
// attribute for that, under which a function must not be inlined where sanitizers look.
#if __has_attribute(disable_sanitizer_instrumentation)
#define GORGO_HIDDEN_FROM_SANITIZERS __attribute__((disable_sanitizer_instrumentation, noinline))
#else
#define GORGO_HIDDEN_FROM_SANITIZERS __attribute__((no_sanitize("thread")))
#endif

/// Has the kernel provide a page by writing to it what stands there. Its owner may begin to use it
/// meanwhile, so each write is atomic.
GORGO_HIDDEN_FROM_SANITIZERS void touch(std::byte* page) {
  constexpr std::size_t kSmallPage = 4096;  // where there are no huge ones
  for (std::size_t at = 0; at < kPage; at += kSmallPage) {
    unsigned char zero = 0;
    __atomic_compare_exchange_n(reinterpret_cast<unsigned char*>(page + at), &zero, 0, false,
                                __ATOMIC_RELAXED, __ATOMIC_RELAXED);
  }
}

/// The thread that takes pages before they are needed. Allocates nothing, because it is asked when
/// memory is short, too.
class Preparer {
 public:
  void add(std::byte* memory, std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    if (count_ == waiting_.size() || !start()) return;
    waiting_[count_++] = {memory, memory + bytes};
    more_.notify_one();
  }

  /// Returns when the thread has no more to do with the range.
  void forget(std::byte* memory, std::size_t bytes) {
    const Range range{memory, memory + bytes};
    std::unique_lock lock(mutex_);
    auto* const end = waiting_.data() + count_;
    auto* const kept = std::remove_if(waiting_.data(), end,
                                      [&](const Range& waiting) { return waiting.meets(range); });
    count_ = static_cast<std::size_t>(kept - waiting_.data());
    done_.wait(lock, [&] { return !page_.meets(range); });
  }

 private:
  struct Range {
    std::byte* begin = nullptr;
    std::byte* end = nullptr;

    bool meets(const Range& other) const { return begin < other.end && other.begin < end; }
  };

  bool start() {
    if (started_) return true;
    try {
      std::thread([this] { run(); }).detach();
      started_ = true;
    } catch (const std::exception&) {  // no thread, no preparation
    }
    return started_;
  }

  [[noreturn]] void run() {
    std::unique_lock lock(mutex_);
    while (true) {
      more_.wait(lock, [&] { return count_ > 0; });
      page_ = next();
      lock.unlock();
      touch(page_.begin);
      lock.lock();
      page_ = {};
      done_.notify_all();
    }
  }

  /// A page of each range in turn, since the first pages are needed first.
  Range next() {
    Range& first = waiting_.front();
    const Range page{first.begin, first.begin + kPage};
    first.begin = page.end;
    std::rotate(waiting_.data(), waiting_.data() + 1, waiting_.data() + count_);
    if (page.end == waiting_[count_ - 1].end) --count_;
    return page;
  }

  std::mutex mutex_;
  std::condition_variable more_, done_;
  std::array<Range, 256> waiting_;
  std::size_t count_ = 0;
  Range page_;  // that the thread is at work on
  bool started_ = false;
};

/// It lives as long as the process, because vectors may be destroyed at any time.
Preparer& preparer = *new Preparer;

}  // namespace

std::size_t next_beginning() {
  constexpr std::size_t kPlaces = 16;
  static std::atomic<std::size_t> ranges = 0;
  return ranges++ % kPlaces * (kPage / kPlaces);
}

std::byte* map(std::size_t bytes) {
  assert(bytes > 0 && bytes % kPage == 0);
  return insist([&] { return find_range(bytes, PROT_READ | PROT_WRITE); });
}

void unmap(std::byte* memory, std::size_t bytes) {
  preparer.forget(memory, bytes);
  munmap(memory, bytes);
}

std::byte* move(std::byte* memory, std::size_t bytes, std::size_t larger) {
  assert(bytes % kPage == 0 && larger % kPage == 0 && larger > bytes);
  preparer.forget(memory, bytes);
  return insist([&]() -> std::byte* {
    std::byte* const range = find_range(larger, PROT_NONE, larger - bytes);
    if (range == nullptr) return nullptr;
    // Where this fails, the kernel may have unmapped the range or not, and somebody else may have
    // it by now: so it is left alone.
    void* const moved = mremap(memory, bytes, larger, MREMAP_MAYMOVE | MREMAP_FIXED, range);
    return moved == MAP_FAILED ? nullptr : static_cast<std::byte*>(moved);
  });
}

void prefer_huge_pages(std::byte* memory, std::size_t bytes) {
  madvise(memory, bytes, MADV_HUGEPAGE);
}

void prepare(std::byte* memory, std::size_t bytes) {
  assert(bytes > 0 && bytes % kPage == 0);
  preparer.add(memory, bytes);
}

}  // namespace gorgo::history::mapped_memory
