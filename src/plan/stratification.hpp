#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "plan/plan.hpp"
#include "plan/strata.hpp"

namespace gorgo::plan {

/// The strata of rules that come and go, kept in step with them. A rule that comes or goes
/// without changing the level of a type costs what it reads itself; else what depends on the type
/// is looked at anew, and nothing else. Rules have numbers, which their owner chooses.
class Stratification {
 public:
  /// Call `update` after this and after `remove`. The plan must stay until it is removed.
  /// Precondition: no rule has this number.
  void add(std::uint32_t rule, const Plan& plan);
  /// Precondition: the rule is there. `next` is the plan that is added in its place at once, if
  /// any: the rule's number stays in the lists that hold it for both.
  void remove(std::uint32_t rule, const Plan* next = nullptr);
  /// Has the rows of a table be complete on some level, whether rules read them or not. Call
  /// `update` after it.
  void add_table(TypeId rows, TypeId events);
  /// Brings everything below in step with the rules.
  void update();

  std::uint32_t level_of_type(TypeId type) const {
    return type < types_.size() ? types_[type].level : 0;
  }
  /// The number of the type's cycle among `cycles`, or kNoCycle.
  std::uint32_t cycle_of(TypeId type) const {
    return type < types_.size() ? types_[type].cycle : kNoCycle;
  }
  bool in_cycle(TypeId type) const { return cycle_of(type) != kNoCycle; }
  /// Whether some rule may produce events of the type, or of a member of the joint type.
  bool is_produced(TypeId type) const {
    return type < types_.size() && (types_[type].is_joint || !types_[type].producers.empty());
  }
  /// The rules that produce events of the type, ascending.
  std::span<const std::uint32_t> producers_of(TypeId type) const {
    if (type >= types_.size()) return {};
    return types_[type].producers;
  }
  /// See Strata::rules.
  std::uint32_t level_of_rule(std::uint32_t rule) const { return rules_[rule].level; }
  bool closes_cycle(std::uint32_t rule) const { return rules_[rule].closes_cycle; }
  /// Every level of a rule is below, and that of the rows of a table.
  std::uint32_t levels() const {
    auto levels = std::max<std::uint32_t>(1, static_cast<std::uint32_t>(rules_on_level_.size()));
    for (const TypeId table : tables_) levels = std::max(levels, types_[table].level + 1);
    return levels;
  }
  std::span<const Cycle> cycles() const { return cycles_; }

  /// How many rules, types and links between types were looked at so far.
  std::uint64_t looked_at() const { return looked_at_; }

 private:
  static constexpr std::uint32_t kNowhere = ~std::uint32_t{0};
  /// By type: how many rules link it with another one.
  using Links = std::map<TypeId, std::uint32_t>;
  struct Type {
    std::uint32_t level = 0;
    std::uint32_t cycle = kNoCycle;
    bool is_joint = false;
    std::vector<std::uint32_t> producers, readers;  // rules, ascending
    Links inputs, outputs;
    std::uint32_t place_in_region = kNowhere;
  };
  struct RuleInfo {
    const Plan* plan = nullptr;  // null: there is no such rule
    std::uint32_t level = 0;
    bool closes_cycle = false;
  };

  Type& type(TypeId id);
  void link(TypeId input, TypeId output);
  void unlink(TypeId input, TypeId output);
  bool share_cycle(TypeId a, TypeId b) const {
    return types_[a].cycle != kNoCycle && types_[a].cycle == types_[b].cycle;
  }
  bool closes_cycle(const Plan& plan) const;
  std::vector<TypeId> region();
  void update_types(const std::vector<TypeId>& region);
  void place(std::vector<TypeId> component);
  void found_cycle(std::uint32_t level, std::vector<TypeId> types);
  void dissolve_cycle(std::uint32_t number);
  void update_rule(std::uint32_t number);
  void count_level(std::uint32_t level);
  void discount_level(std::uint32_t level);

  std::vector<Type> types_;      // by TypeId
  std::vector<TypeId> tables_;   // the types of their rows
  std::vector<RuleInfo> rules_;  // by number
  std::vector<Cycle> cycles_;
  std::vector<std::uint32_t> rules_on_level_;  // how many; the last is not 0
  std::vector<TypeId> changed_types_;          // since `update`: types whose level may have changed
  std::vector<std::uint32_t> changed_rules_;   // since `update`: rules whose level may have changed
  std::uint64_t looked_at_ = 0;
};

}  // namespace gorgo::plan
