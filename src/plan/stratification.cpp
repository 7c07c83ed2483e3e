#include "plan/stratification.hpp"

#include <cassert>
#include <utility>

#include "base/sorted_numbers.hpp"
#include "plan/components.hpp"

namespace gorgo::plan {

Stratification::Type& Stratification::type(TypeId id) {
  if (id >= types_.size()) types_.resize(id + 1);
  return types_[id];
}

void Stratification::add(std::uint32_t number, const Plan& plan) {
  if (number >= rules_.size()) rules_.resize(number + 1);
  assert(rules_[number].plan == nullptr);
  rules_[number].plan = &plan;
  count_level(rules_[number].level);
  hold(type(plan.rule.type).producers, number, true);
  for (const JointType& joint : plan.rule.joints) {
    type(joint.type).is_joint = true;
    for (const JointMember& member : joint.members) {
      type(member.type);
      link(member.type, joint.type);
    }
  }
  for (const auto& [input, reach] : plan.reach) {
    hold(type(input).readers, number, true);
    link(input, plan.rule.type);
  }
  changed_rules_.push_back(number);
}

void Stratification::add_table(TypeId rows, TypeId events) {
  type(rows).is_joint = true;
  type(events);
  link(events, rows);
  tables_.push_back(rows);
}

void Stratification::remove(std::uint32_t number, const Plan* next) {
  RuleInfo& rule = rules_[number];
  const Plan& plan = *std::exchange(rule.plan, nullptr);
  const TypeId output = plan.rule.type;
  const bool goes_on_producing = next != nullptr && next->rule.type == output;
  hold(types_[output].producers, number, goes_on_producing);
  if (rule.closes_cycle) hold(cycles_[types_[output].cycle].rules, number, false);
  for (const auto& [input, reach] : plan.reach) {
    hold(types_[input].readers, number, next != nullptr && next->reach.contains(input));
    unlink(input, output);
  }
  for (const JointType& joint : plan.rule.joints) {
    for (const JointMember& member : joint.members) unlink(member.type, joint.type);
  }
  discount_level(rule.level);
  rule = {};
}

/// A link from below changes no level; within a cycle it changes nothing either.
void Stratification::link(TypeId input, TypeId output) {
  ++looked_at_;
  ++types_[input].outputs[output];
  if (++types_[output].inputs[input] > 1) return;
  if (types_[input].level < types_[output].level || share_cycle(input, output)) return;
  changed_types_.push_back(output);
}

/// Only the highest of the types below decides the level, and only a link within a cycle holds it
/// together.
void Stratification::unlink(TypeId input, TypeId output) {
  ++looked_at_;
  if (--types_[input].outputs[output] == 0) types_[input].outputs.erase(output);
  if (--types_[output].inputs[input] > 0) return;
  types_[output].inputs.erase(input);
  if (types_[input].level + 1 < types_[output].level) return;
  changed_types_.push_back(output);
}

void Stratification::update() {
  const auto types = region();
  if (!types.empty()) update_types(types);
  changed_types_.clear();
  for (const std::uint32_t number : changed_rules_) {
    if (rules_[number].plan != nullptr) update_rule(number);
  }
  changed_rules_.clear();
}

/// The changed types and all that depend on them, ascending. A cycle lies wholly within or without.
std::vector<TypeId> Stratification::region() {
  std::vector<TypeId> region;
  const auto enter = [&](TypeId id) {
    if (std::exchange(types_[id].place_in_region, 0) == kNowhere) region.push_back(id);
  };
  for (const TypeId id : changed_types_) enter(id);
  for (std::size_t next = 0; next < region.size(); ++next) {
    for (const auto& [output, rules] : types_[region[next]].outputs) {
      ++looked_at_;
      enter(output);
    }
  }
  std::sort(region.begin(), region.end());
  for (std::uint32_t i = 0; i < region.size(); ++i) types_[region[i]].place_in_region = i;
  return region;
}

void Stratification::update_types(const std::vector<TypeId>& region) {
  std::vector<std::vector<std::uint32_t>> inputs(region.size());
  for (std::uint32_t i = 0; i < region.size(); ++i) {
    const Type& type = types_[region[i]];
    if (type.cycle != kNoCycle) dissolve_cycle(type.cycle);
    for (const auto& [input, rules] : type.inputs) {
      ++looked_at_;
      const std::uint32_t place = types_[input].place_in_region;
      if (place != kNowhere) inputs[i].push_back(place);
    }
  }
  for (auto& component : components_of(inputs)) {
    for (std::uint32_t& node : component) node = region[node];
    place(std::move(component));
  }
  for (const TypeId id : region) types_[id].place_in_region = kNowhere;
}

/// Precondition: what feeds the component has its level.
void Stratification::place(std::vector<TypeId> component) {
  std::uint32_t level = 0;
  bool cyclic = false;
  for (const TypeId id : component) {
    for (const auto& [input, rules] : types_[id].inputs) {
      const bool inside = std::binary_search(component.begin(), component.end(), input);
      cyclic = cyclic || inside;
      if (inside) continue;
      // No rule stands between a joint type and its members. The cycles of a level run after its
      // other types have been stored, though, so what they bring about is joined one level above.
      const bool above = !types_[id].is_joint || in_cycle(input);
      level = std::max(level, types_[input].level + (above ? 1 : 0));
    }
  }
  for (const TypeId id : component) {
    Type& type = types_[id];
    if (std::exchange(type.level, level) == level) continue;
    changed_rules_.insert(changed_rules_.end(), type.readers.begin(), type.readers.end());
  }
  if (cyclic) found_cycle(level, std::move(component));
}

void Stratification::found_cycle(std::uint32_t level, std::vector<TypeId> types) {
  const auto number = static_cast<std::uint32_t>(cycles_.size());
  Cycle& cycle =
      cycles_.emplace_back(Cycle{.level = level, .types = std::move(types), .rules = {}});
  for (const TypeId id : cycle.types) types_[id].cycle = number;
  for (const TypeId id : cycle.types) {
    const auto& producers = types_[id].producers;
    changed_rules_.insert(changed_rules_.end(), producers.begin(), producers.end());
  }
}

void Stratification::dissolve_cycle(std::uint32_t number) {
  Cycle cycle = std::move(cycles_[number]);
  if (number + 1 < cycles_.size()) {
    cycles_[number] = std::move(cycles_.back());
    for (const TypeId id : cycles_[number].types) types_[id].cycle = number;
  }
  cycles_.pop_back();
  for (const TypeId id : cycle.types) types_[id].cycle = kNoCycle;
  for (const std::uint32_t rule : cycle.rules) rules_[rule].closes_cycle = false;
  changed_rules_.insert(changed_rules_.end(), cycle.rules.begin(), cycle.rules.end());
}

bool Stratification::closes_cycle(const Plan& plan) const {
  return std::any_of(plan.reach.begin(), plan.reach.end(),
                     [&](const auto& read) { return share_cycle(read.first, plan.rule.type); });
}

void Stratification::update_rule(std::uint32_t number) {
  RuleInfo& rule = rules_[number];
  std::uint32_t level = 0;
  for (const auto& [type, reach] : rule.plan->reach) {
    ++looked_at_;
    level = std::max(level, types_[type].level);
  }
  discount_level(rule.level);
  count_level(rule.level = level);
  if (!closes_cycle(*rule.plan)) return;
  if (std::exchange(rule.closes_cycle, true)) return;
  hold(cycles_[types_[rule.plan->rule.type].cycle].rules, number, true);
}

void Stratification::count_level(std::uint32_t level) {
  if (level >= rules_on_level_.size()) rules_on_level_.resize(level + 1);
  ++rules_on_level_[level];
}

void Stratification::discount_level(std::uint32_t level) {
  --rules_on_level_[level];
  while (!rules_on_level_.empty() && rules_on_level_.back() == 0) rules_on_level_.pop_back();
}

}  // namespace gorgo::plan
