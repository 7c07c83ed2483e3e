#include "server/memory_reserve.hpp"

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <new>

namespace gorgo::server::memory_reserve {
namespace {

std::atomic<void*> block = nullptr;
std::atomic<unsigned> times_given_up = 0;
std::atomic<bool> wanted = false;  // a server runs, or has run
thread_local unsigned times_seen = 0;

/// The new-handler, which returns when another attempt to allocate is worth it.
void give_up() {
  if (void* const taken = block.exchange(nullptr)) {
    std::free(taken);
    times_seen = ++times_given_up;
    return;
  }
  // Another thread may have given it up after this one failed.
  const unsigned times = times_given_up;
  if (times_seen == times) throw std::bad_alloc();
  times_seen = times;
}

}  // namespace

bool take(std::size_t bytes) {
  wanted = true;
  if (block.load() != nullptr) return true;
  void* const fresh = std::malloc(bytes);  // not `new`, which would call the handler
  if (fresh == nullptr) return false;
  std::memset(fresh, 1, bytes);  // until it is written to, memory is only promised
  void* none = nullptr;
  if (!block.compare_exchange_strong(none, fresh)) std::free(fresh);
  std::set_new_handler(give_up);
  return true;
}

bool is_given_up() { return wanted && block.load() == nullptr; }

}  // namespace gorgo::server::memory_reserve
