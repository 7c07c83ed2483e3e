#include "plan/strata.hpp"

#include <algorithm>
#include <deque>
#include <map>

#include "plan/components.hpp"

namespace gorgo::plan {
namespace {

/// Levels of types, and which cycle each belongs to.
struct TypeLevels {
  std::vector<std::uint32_t> level;
  std::vector<std::uint32_t> cycle;  // or kNoCycle
  std::vector<Cycle> cycles;
};

/// By type: what the rules producing it read.
using Inputs = std::vector<std::vector<TypeId>>;

Inputs inputs_of(std::span<const Plan* const> plans, TypeId type_count) {
  Inputs inputs(type_count);
  for (const Plan* plan : plans) {
    for (const JointType& joint : plan->rule.joints) {
      for (const JointMember& member : joint.members) inputs[joint.type].push_back(member.type);
    }
    for (const auto& [type, reach] : plan->reach) inputs[plan->rule.type].push_back(type);
  }
  return inputs;
}

std::vector<bool> joint_types(std::span<const Plan* const> plans, TypeId type_count) {
  std::vector<bool> joint(type_count, false);
  for (const Plan* plan : plans) {
    for (const JointType& type : plan->rule.joints) joint[type.type] = true;
  }
  return joint;
}

TypeLevels level_types(const Inputs& inputs, const std::vector<bool>& joint, TypeId type_count) {
  TypeLevels types{std::vector<std::uint32_t>(type_count, 0),
                   std::vector<std::uint32_t>(type_count, kNoCycle),
                   {}};
  for (const auto& component : components_of(inputs)) {
    std::uint32_t level = 0;
    bool cyclic = false;
    for (const TypeId type : component) {
      for (const TypeId input : inputs[type]) {
        const bool inside = std::binary_search(component.begin(), component.end(), input);
        cyclic = cyclic || inside;
        if (inside) continue;
        // No rule stands between a joint type and its members. The cycles of a level run after its
        // other types have been stored, though, so what they bring about is joined one level above.
        const bool above = !joint[type] || types.cycle[input] != kNoCycle;
        level = std::max(level, types.level[input] + (above ? 1 : 0));
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
  TypeLevels types =
      level_types(inputs_of(plans, type_count), joint_types(plans, type_count), type_count);
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

std::vector<const Plan*> plans_of(const Cycle& cycle, std::span<const Plan* const> plans) {
  std::vector<const Plan*> result;
  for (const std::uint32_t rule : cycle.rules) result.push_back(plans[rule]);
  return result;
}

std::vector<TypeId> way_round(std::span<const Plan* const> plans) {
  std::map<TypeId, std::vector<TypeId>> next;
  for (const Plan* plan : plans) {
    for (const auto& [type, reach] : plan->reach) next[type].push_back(plan->rule.type);
    for (const JointType& joint : plan->rule.joints) {
      for (const JointMember& member : joint.members) next[member.type].push_back(joint.type);
    }
  }
  TypeId start = kNoType;  // every type of a cycle is made by one of its rules
  for (const Plan* plan : plans) start = std::min(start, plan->rule.type);
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
