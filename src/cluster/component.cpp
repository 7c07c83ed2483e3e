#include "cluster/component.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "plan/reads.hpp"

namespace gorgo::cluster {
namespace {

/// Ways of one component that are compared, and steps of the search for them. A component that
/// needs more is not divided.
constexpr std::size_t kMostWays = 64;
constexpr std::size_t kMostSteps = 10'000;

std::uint32_t root_of(std::vector<std::uint32_t>& parents, std::uint32_t node) {
  while (parents[node] != node) node = parents[node] = parents[parents[node]];
  return node;
}

/// Finds a division for each rule of a component such that all agree in the keys of their types.
class Search {
 public:
  Search(std::span<const plan::Plan* const> plans, std::vector<Divisions> divisions)
      : plans_(plans), divisions_(std::move(divisions)) {
    for (const plan::Plan* const plan : plans) {
      for (const auto& [type, reach] : plan->reach) read_.insert(type);
    }
  }

  std::vector<Keys> run() {
    go_on(0, {});
    return steps_ > kMostSteps ? std::vector<Keys>() : std::move(found_);
  }

  /// The first rule for which none of the divisions of those before it leaves one.
  std::size_t stuck_at() const { return furthest_; }

 private:
  const std::span<const plan::Plan* const> plans_;
  const std::vector<Divisions> divisions_;
  std::set<TypeId> read_;  // by rules of the component
  std::vector<Keys> found_;
  std::size_t steps_ = 0, furthest_ = 0;

  void go_on(std::size_t rule, const Keys& keys) {
    furthest_ = std::max(furthest_, rule);
    if (rule == plans_.size()) {
      if (std::ranges::find(found_, keys) == found_.end()) found_.push_back(keys);
      return;
    }
    for (const Division& way : divisions_[rule].ways) {
      if (++steps_ > kMostSteps || found_.size() >= kMostWays) return;
      Keys narrowed = keys;
      if (narrow(narrowed, way, plans_[rule]->rule.type)) go_on(rule + 1, narrowed);
    }
  }

  static bool narrow(Keys& keys, TypeId type, const std::set<std::uint32_t>& allowed) {
    const auto [at, is_new] = keys.try_emplace(type, allowed);
    if (!is_new) {
      std::erase_if(at->second, [&](std::uint32_t one) { return !allowed.contains(one); });
    }
    return !at->second.empty();
  }

  bool narrow(Keys& keys, const Division& way, TypeId composite) const {
    for (const auto& [type, allowed] : way.keys) {
      if (!narrow(keys, type, allowed)) return false;
    }
    return !read_.contains(composite) || narrow(keys, composite, way.composite);
  }
};

}  // namespace

std::vector<std::vector<std::uint32_t>> components_of(std::span<const plan::Plan* const> plans) {
  std::vector<std::uint32_t> parents(plans.size());
  std::iota(parents.begin(), parents.end(), 0u);
  std::map<TypeId, std::uint32_t> producers;
  const auto join = [&](std::uint32_t a, std::uint32_t b) {
    const std::uint32_t one = root_of(parents, a), other = root_of(parents, b);
    parents[std::max(one, other)] = std::min(one, other);
  };
  std::set<TypeId> read;
  for (const plan::Plan* const plan : plans) {
    for (const TypeId type : plan::types_read(*plan)) read.insert(type);
  }
  for (std::uint32_t i = 0; i < plans.size(); ++i) {
    const TypeId made = plans[i]->rule.type;
    if (read.contains(made)) join(producers.try_emplace(made, i).first->second, i);
  }
  for (std::uint32_t i = 0; i < plans.size(); ++i) {
    for (const TypeId type : plan::types_read(*plans[i])) {
      const auto producer = producers.find(type);
      if (producer != producers.end()) join(producer->second, i);
    }
  }
  std::map<std::uint32_t, std::vector<std::uint32_t>> by_root;
  for (std::uint32_t i = 0; i < plans.size(); ++i) by_root[root_of(parents, i)].push_back(i);
  std::vector<std::vector<std::uint32_t>> components;
  for (auto& [root, rules] : by_root) components.push_back(std::move(rules));
  return components;
}

ComponentKeys keys_of(std::span<const plan::Plan* const> component, const Schema& schema) {
  std::vector<Divisions> divisions;
  for (const plan::Plan* const plan : component) {
    divisions.push_back(divisions_of(plan->rule, schema));
  }
  ComponentKeys found;
  for (const Divisions& one : divisions) found.because.push_back(one.because);
  const auto blamed = std::ranges::find_if(divisions, [](const auto& d) { return d.ways.empty(); });
  std::size_t culprit = static_cast<std::size_t>(blamed - divisions.begin());
  if (blamed == divisions.end()) {
    Search search(component, divisions);
    found.ways = search.run();
    if (!found.ways.empty()) return found;
    culprit = std::min(search.stuck_at(), component.size() - 1);
    found.because[culprit] = "the rules that it shares composites with have no key in common";
  }
  for (std::string& why : found.because) {
    if (why.empty()) {
      why = "it shares composites with " + component[culprit]->rule.name + ", which no key divides";
    }
  }
  return found;
}

}  // namespace gorgo::cluster
