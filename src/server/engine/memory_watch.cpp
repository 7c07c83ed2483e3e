#include "server/engine/memory_watch.hpp"

#include <malloc.h>

#include "server/memory_reserve.hpp"

namespace gorgo::server {

void MemoryWatch::look() {
  if (!memory_reserve::is_given_up() && !is_short_) return;
  if (!is_short_) {
    is_short_ = true;
    shortages_.fetch_add(1, std::memory_order_relaxed);
    log_.warning("short of memory: publications are refused until there is more");
  }
  malloc_trim(0);
  if (!memory_reserve::take(reserve_bytes_)) return;
  is_short_ = false;
  log_.info("there is memory again");
}

}  // namespace gorgo::server
