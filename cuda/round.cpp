#include "cuda/device.hpp"

namespace gorgo::gpu {

void Round::clear() {
  pages.clear();
  attributes.clear();
  tests.clear();
  instructions.clear();
  scans.clear();
  bounds.clear();
  cells.clear();
  texts.clear();
  negations.clear();
  oldest.clear();
  newest.clear();
  every.clear();
  reductions.clear();
  sums.clear();
  selected = 0;
  most_listed = 0;
  fetched = 0;
}

void Channel::count(const Round& round) {
  ++counters_.rounds;
  counters_.searches += round.oldest.size() + round.newest.size() + round.every.size() +
                        round.reductions.size() + round.sums.size();
}

DeviceCounters Device::counters() {
  DeviceCounters all = counters_;
  for (std::uint32_t i = 0; i < channels(); ++i) {
    const DeviceCounters& of_channel = channel(i).counters();
    all.rounds += of_channel.rounds;
    all.searches += of_channel.searches;
    all.uploaded += of_channel.uploaded;
  }
  return all;
}

}  // namespace gorgo::gpu
