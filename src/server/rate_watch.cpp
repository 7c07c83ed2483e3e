#include "server/rate_watch.hpp"

#include <algorithm>
#include <utility>

namespace gorgo::server {

RateWatch::RateWatch(Read read, Time now) : read_(std::move(read)) { restart(now); }

void RateWatch::restart(Time now) {
  samples_.fill({now, read_()});
  due_ = now + kAverage;
}

/// Of very many rules less often, so that it takes a hundredth of the time at most.
void RateWatch::look(Time now) {
  constexpr int kShare = 100;
  if (now < due_) return;
  samples_[0] = std::move(samples_[1]);
  const auto start = std::chrono::steady_clock::now();
  samples_[1] = {now, read_()};
  const auto took = std::chrono::steady_clock::now() - start;
  due_ = now + std::max<std::chrono::steady_clock::duration>(kAverage, kShare * took);
}

std::vector<RuleRates> RateWatch::rates(Time now) const {
  const Sample& since = samples_[now - samples_[1].time >= kAverage ? 1 : 0];
  const double seconds = std::chrono::duration<double>(now - since.time).count();
  const Counters counters = read_();
  std::vector<RuleRates> rates(counters.size(), RuleRates{.seconds = seconds});
  if (seconds <= 0) return rates;
  const auto rate = [&](std::uint64_t before, std::uint64_t after) {
    return static_cast<double>(after - before) / seconds;
  };
  for (std::size_t i = 0; i < rates.size(); ++i) {
    rates[i].events = rate(since.counters[i].events, counters[i].events);
    rates[i].terminators = rate(since.counters[i].terminators, counters[i].terminators);
    rates[i].composites = rate(since.counters[i].composites, counters[i].composites);
  }
  return rates;
}

}  // namespace gorgo::server
