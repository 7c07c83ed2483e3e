#include "engine/produced.hpp"

#include <algorithm>

#include "base/arithmetic.hpp"
#include "base/value_key.hpp"

namespace gorgo::engine {

bool ProducedComposites::admit(const OutputLimit& limit, std::span<const Datum> cells,
                               Timestamp at) {
  key_.clear();
  for (const std::uint32_t attribute : limit.by) append_value_key(cells[attribute], key_);
  Times& times = times_[key_];
  const auto after =
      std::ranges::upper_bound(times, arithmetic::saturating_subtract(at, limit.per));
  if (static_cast<std::uint64_t>(times.end() - after) >= limit.composites) return false;
  times.insert(std::ranges::upper_bound(times, at), at);
  // Whether there are as many as the limit after some time is told by the latest ones alone. Half
  // of them goes at once, so that dropping costs little.
  if (times.size() / 2 >= limit.composites) {
    times.erase(times.begin(), times.end() - static_cast<std::ptrdiff_t>(limit.composites));
  }
  return true;
}

void ProducedComposites::forget_until(Timestamp last) {
  if (times_.size() < threshold_) return;
  std::erase_if(times_, [last](const auto& entry) { return entry.second.back() <= last; });
  threshold_ = std::max(kSmallest, 2 * times_.size());
}

std::size_t ProducedComposites::bytes() const {
  constexpr std::size_t kNode = 2 * sizeof(void*) + sizeof(std::string) + sizeof(Times);
  std::size_t total = 0;
  for (const auto& [key, times] : times_) {
    total += kNode + key.capacity() + times.capacity() * sizeof(Timestamp);
  }
  return total;
}

}  // namespace gorgo::engine
