#include "plan/strata.hpp"

#include <algorithm>
#include <deque>
#include <map>

namespace gorgo::plan {
namespace {

/// Strongly connected components of types (R. Tarjan, "Depth-first search and linear graph
/// algorithms", 1972), found in the order in which they can be evaluated. The stack is explicit:
/// rules come from outside, and a chain of them may be long.
class ComponentSearch {
 public:
  ComponentSearch(std::span<const Plan* const> plans, TypeId type_count)
      : inputs_(type_count), index_(type_count, kUnseen), low_(type_count), open_(type_count) {
    for (const Plan* plan : plans) {
      for (const auto& [type, reach] : plan->reach) inputs_[plan->rule.type].push_back(type);
    }
    for (TypeId type = 0; type < type_count; ++type) {
      if (index_[type] == kUnseen) visit(type);
    }
  }

  /// Every component comes behind those that feed it.
  const std::vector<std::vector<TypeId>>& components() const { return components_; }
  const std::vector<TypeId>& inputs(TypeId type) const { return inputs_[type]; }

 private:
  static constexpr std::uint32_t kUnseen = ~std::uint32_t{0};
  struct Step {
    TypeId type;
    std::size_t next_input;
  };

  void visit(TypeId root) {
    enter(root);
    while (!path_.empty()) {
      Step& step = path_.back();
      const TypeId type = step.type;
      if (step.next_input == inputs_[type].size()) {
        leave(type);
        continue;
      }
      const TypeId input = inputs_[type][step.next_input++];
      if (index_[input] == kUnseen) {
        enter(input);
      } else if (open_[input]) {
        low_[type] = std::min(low_[type], index_[input]);
      }
    }
  }

  void enter(TypeId type) {
    index_[type] = low_[type] = count_++;
    open_[type] = true;
    waiting_.push_back(type);
    path_.push_back({type, 0});
  }

  void leave(TypeId type) {
    path_.pop_back();
    if (!path_.empty()) {
      TypeId parent = path_.back().type;
      low_[parent] = std::min(low_[parent], low_[type]);
    }
    if (low_[type] != index_[type]) return;
    std::vector<TypeId> component;
    do {
      component.push_back(waiting_.back());
      open_[waiting_.back()] = false;
      waiting_.pop_back();
    } while (component.back() != type);
    std::sort(component.begin(), component.end());
    components_.push_back(std::move(component));
  }

  std::vector<std::vector<TypeId>> inputs_;  // by type: what the rules producing it read
  std::vector<std::uint32_t> index_;
  std::vector<std::uint32_t> low_;
  std::vector<bool> open_;
  std::vector<TypeId> waiting_;
  std::vector<Step> path_;
  std::vector<std::vector<TypeId>> components_;
  std::uint32_t count_ = 0;
};

/// Levels of types, and which cycle each belongs to.
struct TypeLevels {
  std::vector<std::uint32_t> level;
  std::vector<std::uint32_t> cycle;  // or kNoCycle
  std::vector<Cycle> cycles;
};

TypeLevels level_types(const ComponentSearch& search, TypeId type_count) {
  TypeLevels types{std::vector<std::uint32_t>(type_count, 0),
                   std::vector<std::uint32_t>(type_count, kNoCycle),
                   {}};
  for (const auto& component : search.components()) {
    std::uint32_t level = 0;
    bool cyclic = false;
    for (const TypeId type : component) {
      for (const TypeId input : search.inputs(type)) {
        const bool inside = std::binary_search(component.begin(), component.end(), input);
        cyclic = cyclic || inside;
        if (!inside) level = std::max(level, types.level[input] + 1);
      }
    }
    for (const TypeId type : component) {
      types.level[type] = level;
      if (cyclic) types.cycle[type] = static_cast<std::uint32_t>(types.cycles.size());
    }
    if (cyclic) types.cycles.push_back({.level = level, .types = component, .rules = {}});
  }
  return types;
}

}  // namespace

Strata stratify(std::span<const Plan* const> plans, TypeId type_count) {
  TypeLevels types = level_types(ComponentSearch(plans, type_count), type_count);
  Strata strata{.rules = {}, .types = std::move(types.level), .cycles = std::move(types.cycles)};
  for (std::uint32_t i = 0; i < plans.size(); ++i) {
    const std::uint32_t output_cycle = types.cycle[plans[i]->rule.type];
    std::uint32_t level = 0;
    bool closes_cycle = false;
    for (const auto& [type, reach] : plans[i]->reach) {
      level = std::max(level, strata.types[type]);
      closes_cycle =
          closes_cycle || (output_cycle != kNoCycle && types.cycle[type] == output_cycle);
    }
    strata.rules.push_back(level);
    if (closes_cycle) strata.cycles[output_cycle].rules.push_back(i);
  }
  return strata;
}

std::vector<TypeId> way_round(const Cycle& cycle, std::span<const Plan* const> plans) {
  std::map<TypeId, std::vector<TypeId>> next;
  for (const std::uint32_t rule : cycle.rules) {
    for (const auto& [type, reach] : plans[rule]->reach) {
      next[type].push_back(plans[rule]->rule.type);
    }
  }
  const TypeId start = cycle.types.front();
  std::map<TypeId, TypeId> before;  // breadth first, so that the way is a shortest one
  std::deque<TypeId> open{start};
  while (!before.contains(start)) {
    const TypeId from = open.front();
    open.pop_front();
    for (const TypeId to : next[from]) {
      if (before.emplace(to, from).second) open.push_back(to);
    }
  }
  std::vector<TypeId> way{before.at(start)};
  while (way.back() != start) way.push_back(before.at(way.back()));
  std::reverse(way.begin(), way.end());
  return way;
}

}  // namespace gorgo::plan
