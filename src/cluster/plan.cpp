#include "cluster/plan.hpp"

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

#include "cluster/component.hpp"
#include "cluster/names.hpp"
#include "plan/reads.hpp"

namespace gorgo::cluster {
namespace {

using NamedKeys = std::map<std::string, std::string>;

class Planner {
 public:
  Planner(std::span<const plan::Plan* const> plans, const Schema& schema)
      : plans_(plans), schema_(schema) {
    for (const plan::Plan* const plan : plans) produced_.insert(plan->rule.type);
  }

  ClusterPlan plan() {
    std::vector<Component> components;
    for (auto& rules : components_of(plans_)) components.push_back(component(std::move(rules)));
    // Those with the fewest ways choose first, so that the others can join them.
    std::ranges::stable_sort(components, {}, [](const Component& one) { return one.ways.size(); });
    rules_.resize(plans_.size());
    for (const Component& one : components) place(one);
    return finish();
  }

 private:
  struct Component {
    std::vector<std::uint32_t> rules;
    std::vector<NamedKeys> ways;
    std::vector<std::string> because;
  };

  const std::span<const plan::Plan* const> plans_;
  const Schema& schema_;
  std::set<TypeId> produced_;
  std::map<std::string, Family> families_;
  std::vector<RulePlace> rules_;

  bool is_external(TypeId type) const { return type != kTimerType && !produced_.contains(type); }

  Component component(std::vector<std::uint32_t> rules) const {
    std::vector<const plan::Plan*> plans;
    for (const std::uint32_t rule : rules) plans.push_back(plans_[rule]);
    ComponentKeys keys = keys_of(plans, schema_);
    Component made{.rules = std::move(rules), .ways = {}, .because = std::move(keys.because)};
    for (const Keys& way : keys.ways) {
      NamedKeys named = name(way);
      if (std::ranges::find(made.ways, named) == made.ways.end()) {
        made.ways.push_back(std::move(named));
      }
    }
    return made;
  }

  /// Chooses one attribute for each type that clients publish: one that all have, if there is one.
  NamedKeys name(const Keys& way) const {
    std::map<std::string, std::set<std::string>> choices;
    for (const auto& [type, attributes] : way) {
      if (!is_external(type)) continue;
      for (const std::uint32_t one : attributes) {
        choices[schema_.at(type).name].insert(schema_.at(type).attributes[one].name);
      }
    }
    std::set<std::string> common;
    if (!choices.empty()) common = choices.begin()->second;
    for (const auto& [type, names] : choices) {
      std::erase_if(common, [&all = names](const std::string& one) { return !all.contains(one); });
    }
    NamedKeys named;
    for (const auto& [type, names] : choices) {
      named[type] = common.empty() ? *names.begin() : *common.begin();
    }
    return named;
  }

  /// `area` where the attributes of all types are called so, else `Alarm.zone+Temp.area`.
  static std::string family_of(const NamedKeys& keys) {
    std::set<std::string> names;
    std::string all;
    for (const auto& [type, attribute] : keys) {
      names.insert(attribute);
      all += (all.empty() ? "" : "+") + type + "." + attribute;
    }
    const bool is_simple = names.size() == 1 && *names.begin() != kWhole;
    return is_simple ? *names.begin() : all;
  }

  /// How many more times events of a type are sent somewhere, were the rules divided so.
  std::size_t cost(const NamedKeys& way) const {
    const auto family = families_.find(family_of(way));
    if (family == families_.end()) return way.size();
    return static_cast<std::size_t>(std::ranges::count_if(
        way, [&](const auto& key) { return !family->second.keys.contains(key.first); }));
  }

  void place(const Component& component) {
    const auto best = std::ranges::min_element(
        component.ways, {}, [&](const NamedKeys& way) { return std::pair(cost(way), way); });
    // A component that reads nothing from outside has nothing by which it could be divided.
    const bool is_whole = best == component.ways.end() || best->empty();
    const std::string name = is_whole ? std::string(kWhole) : family_of(*best);
    Family& family = families_[name];
    family.name = name;
    if (!is_whole) family.keys.insert(best->begin(), best->end());
    for (std::size_t i = 0; i < component.rules.size(); ++i) {
      const std::uint32_t rule = component.rules[i];
      std::string because = is_whole ? component.because[i] : "";
      if (is_whole && because.empty()) because = "nothing that clients publish reaches it";
      rules_[rule] = {plans_[rule]->rule.name, name, std::move(because)};
    }
  }

  ClusterPlan finish() {
    ClusterPlan plan{.families = {}, .rules = std::move(rules_), .routes = {}};
    std::map<std::string, std::set<std::string>> takes;
    for (std::size_t i = 0; i < plans_.size(); ++i) {
      Family& family = families_[plan.rules[i].family];
      family.rules.push_back(plan.rules[i].rule);
      family.needs_clock =
          family.needs_clock || plans_[i]->deadline.has_value() || plans_[i]->rule.timer;
      for (const TypeId type : plan::types_read(*plans_[i])) {
        if (is_external(type)) takes[family.name].insert(schema_.at(type).name);
      }
    }
    for (auto& [name, family] : families_) {
      family.takes.assign(takes[name].begin(), takes[name].end());
      plan.families.push_back(std::move(family));
    }
    std::stable_partition(plan.families.begin(), plan.families.end(),
                          [](const Family& family) { return !family.is_whole(); });
    for (const Family& family : plan.families) {
      for (const std::string& type : family.takes) plan.routes[type].push_back(family.name);
    }
    return plan;
  }
};

}  // namespace

const Family* ClusterPlan::find(std::string_view family) const {
  const auto found = std::ranges::find(families, family, &Family::name);
  return found == families.end() ? nullptr : &*found;
}

ClusterPlan plan_cluster(std::span<const plan::Plan* const> plans, const Schema& schema) {
  return Planner(plans, schema).plan();
}

}  // namespace gorgo::cluster
