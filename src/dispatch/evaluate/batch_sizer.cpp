#include "dispatch/evaluate/batch_sizer.hpp"

#include <algorithm>
#include <utility>

namespace gorgo::dispatch {
namespace {

constexpr double kMostRoots = 1 << 30;
/// A batch with many more composites than this would go through memory instead of the cache.
constexpr std::size_t kComposites = 1 << 12;
/// The limit where a device takes part, to which it matters more that batches have many
/// terminators.
constexpr std::size_t kCompositesOfDevice = 1 << 16;

}  // namespace

void BatchSizer::learn(std::size_t composites, std::size_t roots, const Conditions& conditions) {
  fit_cache(composites, roots, conditions.uses_device);
  keep_to_latency(roots, conditions.is_undecided);
}

void BatchSizer::fit_cache(std::size_t composites, std::size_t roots, bool uses_device) {
  const std::size_t aim = uses_device ? kCompositesOfDevice : kComposites;
  if (composites > aim) {
    roots_ = std::max<std::size_t>(1, roots * aim / composites);
  } else if (roots == roots_ && 2 * composites < aim) {
    roots_ *= 2;
  }
}

/// Limits the size of the next batch by what recent ones took. As long as it is not known where
/// rules run best, a batch must not take long, because they may be on a slow engine. But a device
/// needs some terminators to show what it can do.
void BatchSizer::keep_to_latency(std::size_t roots, bool is_undecided) {
  constexpr Duration kUndecided = 10'000'000;
  constexpr double kSome = 256;
  Duration target = latency_target_;
  if (is_undecided) target = target == 0 ? kUndecided : std::min(target, kUndecided);
  if (target == 0 || roots == 0 || !started_) return;
  const Clock::time_point now = Clock::now();
  const std::chrono::duration<double, std::nano> took = now - *std::exchange(started_, now);
  batch_time_.add(roots, took.count());
  double most = batch_time_.roots_within(static_cast<double>(target));
  if (is_undecided) most = std::max(most, kSome);
  roots_ = std::max<std::size_t>(
      1, std::min(roots_, static_cast<std::size_t>(std::min(most, kMostRoots))));
}

}  // namespace gorgo::dispatch
