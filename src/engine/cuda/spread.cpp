#include "engine/cuda/spread.hpp"

#include <algorithm>
#include <numeric>

namespace gorgo::engine {
namespace {

class Spread {
 public:
  Spread(std::span<const Load> loads, std::size_t devices, std::uint64_t least_part)
      : loads_(loads), least_part_(least_part), costs_(devices), shares_(devices) {
    for (const Load& load : loads) fair_ += load.cost;
    fair_ /= devices;
  }

  void add(std::uint32_t number) {
    const Load& load = loads_[number];
    if (is_divided(load)) return divide(number);
    const std::size_t device = device_for(load);
    costs_[device] += load.cost;
    shares_[device].push_back({number, 0, load.terminators});
  }

  std::vector<std::vector<Share>> take() { return std::move(shares_); }

 private:
  bool is_divided(const Load& load) const {
    const std::size_t devices = costs_.size();
    return devices > 1 && load.is_divisible && load.cost > fair_ &&
           load.cost / devices >= least_part_ && load.terminators >= devices;
  }

  void divide(std::uint32_t number) {
    const Load& load = loads_[number];
    const std::size_t devices = costs_.size();
    for (std::size_t device = 0; device < devices; ++device) {
      const std::size_t first = load.terminators * device / devices;
      const std::size_t last = load.terminators * (device + 1) / devices;
      costs_[device] += load.cost / devices;
      shares_[device].push_back({number, first, last - first});
    }
  }

  std::size_t device_for(const Load& load) const {
    // Moving columns costs more than some unevenness.
    const std::uint64_t enough = fair_ + fair_ / 4;
    if (load.home < costs_.size() && costs_[load.home] + load.cost <= enough) return load.home;
    return static_cast<std::size_t>(std::ranges::min_element(costs_) - costs_.begin());
  }

  std::span<const Load> loads_;
  std::uint64_t least_part_;
  std::uint64_t fair_ = 0;
  std::vector<std::uint64_t> costs_;
  std::vector<std::vector<Share>> shares_;
};

}  // namespace

std::vector<std::vector<Share>> spread(std::span<const Load> loads, std::size_t devices,
                                       std::uint64_t least_part) {
  std::vector<std::uint32_t> dearest_first(loads.size());
  std::iota(dearest_first.begin(), dearest_first.end(), 0);
  std::ranges::stable_sort(dearest_first, std::greater(),
                           [&](std::uint32_t load) { return loads[load].cost; });
  Spread spread(loads, devices, least_part);
  for (const std::uint32_t load : dearest_first) spread.add(load);
  auto shares = spread.take();
  // The shares of a device stand in the order of the loads.
  for (auto& of_device : shares) std::ranges::sort(of_device, {}, &Share::load);
  return shares;
}

}  // namespace gorgo::engine
