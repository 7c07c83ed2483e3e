#include "server/engine/rate_watch.hpp"

#include <algorithm>
#include <utility>

namespace gorgo::server {

RateWatch::RateWatch(Read read, Time now) : read_(std::move(read)) { restart(now); }

void RateWatch::restart(Time now) {
  samples_.fill(sample(now));
  due_ = now + kAverage;
}

/// Reads the counters of very many rules less often, so that reading takes a hundredth of the time
/// at most.
void RateWatch::look(Time now) {
  constexpr int kShare = 100;
  if (now < due_) return;
  samples_[0] = std::move(samples_[1]);
  const auto start = std::chrono::steady_clock::now();
  samples_[1] = sample(now);
  const auto took = std::chrono::steady_clock::now() - start;
  due_ = now + std::max<std::chrono::steady_clock::duration>(kAverage, kShare * took);
}

RateWatch::Sample RateWatch::sample(Time now) {
  came_.reset();
  Sample sample{now, read_()};
  std::ranges::sort(sample.counters, {}, &RuleCounters::serial);
  return sample;
}

const RuleCounters* RateWatch::Sample::find(std::uint64_t serial) const {
  const auto found = std::ranges::lower_bound(counters, serial, {}, &RuleCounters::serial);
  return found == counters.end() || found->serial != serial ? nullptr : &*found;
}

RuleRates RateWatch::rates(const RuleCounters& counters, Time now) const {
  const bool is_recent = now - samples_[1].time < kAverage;
  Time since = samples_[is_recent ? 0 : 1].time;
  const RuleCounters* before = samples_[is_recent ? 0 : 1].find(counters.serial);
  if (before == nullptr) {
    since = samples_[1].time;
    before = samples_[1].find(counters.serial);
  }
  static constexpr RuleCounters kNothing;
  if (before == nullptr) {
    since = came_.value_or(now);
    before = &kNothing;
  }
  const double seconds = std::chrono::duration<double>(now - since).count();
  if (seconds <= 0) return {};
  const auto rate = [&](std::uint64_t then, std::uint64_t count) {
    return static_cast<double>(count - then) / seconds;
  };
  return {.seconds = seconds,
          .events = rate(before->events, counters.events),
          .terminators = rate(before->terminators, counters.terminators),
          .composites = rate(before->composites, counters.composites)};
}

}  // namespace gorgo::server
