#include "history/page_preparer.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>

#include "base/thread_name.hpp"
#include "history/page_range.hpp"

namespace gorgo::history::page_preparer {
namespace {

constexpr std::size_t kPage = PageRange::kPage;

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

class Preparer {
 public:
  void add(std::byte* memory, std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    if (count_ == waiting_.size() || !start()) return;
    waiting_[count_++] = {memory, memory + bytes};
    more_.notify_one();
  }

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
    name_thread("pages");
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

void add(std::byte* memory, std::size_t bytes) { preparer.add(memory, bytes); }

void forget(std::byte* memory, std::size_t bytes) { preparer.forget(memory, bytes); }

}  // namespace gorgo::history::page_preparer
