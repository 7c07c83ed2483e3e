#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "gorgo/schema.hpp"
#include "plan/plan.hpp"

/// Where the rules of a cluster run.
namespace gorgo::cluster {

/// Rules that run together, and the events that they take. Each partition of a family has all of
/// its rules and the events whose keys belong to the partition; the family `kWhole` has one
/// partition and no keys.
struct Family {
  std::string name;
  /// By each type that it takes, the attribute that is the key. Empty: the family `kWhole`.
  std::map<std::string, std::string> keys;
  std::vector<std::string> rules;  ///< full names, in the order of deployment
  std::vector<std::string> takes;  ///< types that clients publish, sorted
  /// Rules wait for deadlines or timers, so that the clock brings about composites.
  bool needs_clock = false;

  bool is_whole() const { return keys.empty(); }
  friend bool operator==(const Family&, const Family&) = default;
};

struct RulePlace {
  std::string rule;  ///< full name
  std::string family;
  std::string because;  ///< why no key divides it; empty: one does
};

struct ClusterPlan {
  std::vector<Family> families;  ///< by name; `kWhole` is the last, if any rule needs it
  std::vector<RulePlace> rules;  ///< in the order of deployment
  /// By type that clients publish and some rule reads, the families to which each event is sent.
  std::map<std::string, std::vector<std::string>> routes;

  /// Null: there is no such family.
  const Family* find(std::string_view family) const;
};

/// Divides rules by keys, where that provably changes none of their results. A rule belongs with
/// the rules whose composites it reads, and with those that share such composites. Together they
/// are divided by a key when in each of them every state, negation and aggregate equals the
/// terminator in one attribute that is no float, and composites that they read hand that attribute
/// on. All others are in the family `kWhole`. The plan depends on the rules and their order alone.
/// Pure; any thread.
ClusterPlan plan_cluster(std::span<const plan::Plan* const> plans, const Schema& schema);

}  // namespace gorgo::cluster
