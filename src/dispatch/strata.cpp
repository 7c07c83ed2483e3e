#include "dispatch/strata.hpp"

#include <algorithm>

namespace gorgo::dispatch {
namespace {

/// Depth-first search for the longest path to each type. The stack is explicit: rules come from
/// outside, and a chain of them may be long.
class LevelSearch {
 public:
  LevelSearch(std::span<const plan::Plan* const> plans, TypeId type_count)
      : inputs_(type_count), levels_(type_count, 0), marks_(type_count, Mark::unseen) {
    for (const plan::Plan* plan : plans) {
      for (const auto& [type, reach] : plan->reach) inputs_[plan->rule.type].push_back(type);
    }
  }

  /// Returns false when it found a cycle.
  bool visit(TypeId root) {
    if (marks_[root] != Mark::unseen) return true;
    enter(root);
    while (!path_.empty()) {
      Step& step = path_.back();
      if (step.next == inputs_[step.type].size()) {
        leave();
        continue;
      }
      const TypeId input = inputs_[step.type][step.next++];
      if (marks_[input] == Mark::open) return record_cycle(input), false;
      if (marks_[input] == Mark::unseen) enter(input);
    }
    return true;
  }

  std::vector<std::uint32_t> take_levels() { return std::move(levels_); }
  std::vector<TypeId> take_cycle() { return std::move(cycle_); }

 private:
  enum class Mark : std::uint8_t { unseen, open, done };
  struct Step {
    TypeId type;
    std::size_t next;
  };

  void enter(TypeId type) {
    marks_[type] = Mark::open;
    path_.push_back({type, 0});
  }

  void leave() {
    const TypeId type = path_.back().type;
    for (const TypeId input : inputs_[type]) {
      levels_[type] = std::max(levels_[type], levels_[input] + 1);
    }
    marks_[type] = Mark::done;
    path_.pop_back();
  }

  void record_cycle(TypeId type) {
    const auto start = std::find_if(path_.begin(), path_.end(),
                                    [&](const Step& step) { return step.type == type; });
    for (auto it = start; it != path_.end(); ++it) cycle_.push_back(it->type);
    std::reverse(cycle_.begin(), cycle_.end());  // from what is read to what is produced
    cycle_.insert(cycle_.begin(), type);
  }

  std::vector<std::vector<TypeId>> inputs_;  // by type: what the rules producing it read
  std::vector<std::uint32_t> levels_;
  std::vector<Mark> marks_;
  std::vector<Step> path_;
  std::vector<TypeId> cycle_;
};

}  // namespace

Strata stratify(std::span<const plan::Plan* const> plans, TypeId type_count) {
  LevelSearch search(plans, type_count);
  for (const plan::Plan* plan : plans) {
    if (!search.visit(plan->rule.type)) return {.cycle = search.take_cycle()};
  }
  Strata strata{.types = search.take_levels()};
  for (const plan::Plan* plan : plans) {
    std::uint32_t level = 0;
    for (const auto& [type, reach] : plan->reach) level = std::max(level, strata.types[type]);
    strata.rules.push_back(level);
  }
  return strata;
}

}  // namespace gorgo::dispatch
