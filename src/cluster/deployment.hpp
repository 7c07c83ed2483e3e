#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/ownership.hpp"
#include "cluster/plan.hpp"
#include "cluster/wire.hpp"
#include "gorgo/diagnostics.hpp"

namespace gorgo::cluster {

/// The rules of a cluster and where they run: what the plan bucket has under `kPlanKey`.
struct Deployment {
  std::uint64_t version = 0;      ///< counts from 1
  std::uint32_t partitions = 64;  ///< of each family but `kWhole`; the first deployment decides
  std::uint32_t replicas = 1;     ///< of each stream
  std::uint64_t retain_hours = 24;
  std::vector<RuleText> texts;  ///< in the order of deployment
  ClusterPlan plan;

  std::uint32_t partitions_of(const Family& family) const {
    return family.is_whole() ? 1 : partitions;
  }
  /// How long input streams keep messages, in nanoseconds; 0: for ever.
  std::int64_t retained() const {
    return static_cast<std::int64_t>(retain_hours) * 3'600'000'000'000;
  }
  /// Those of all families.
  std::vector<PartitionName> partition_names() const;
  /// What the partitions of a family are told.
  RulesMessage rules_of(const Family& family) const {
    return {.version = version, .texts = texts, .rules = family.rules};
  }

  std::string to_json() const;
  static Result<Deployment> parse(std::string_view json);
};

/// The key of the deployment in force in the plan bucket.
inline constexpr const char* kPlanKey = "plan";

/// To which families events go, and by which attribute they are divided there.
class Routing {
 public:
  struct Target {
    std::string family;
    std::string attribute;  ///< empty: all go to partition 0
    std::uint32_t partitions = 1;
    bool needs_clock = false;
  };

  Routing() = default;
  explicit Routing(const Deployment& deployment);

  /// Where events of a type are sent; none: no rule reads them.
  const std::vector<Target>& targets(std::string_view type) const;
  /// One for each family.
  const std::vector<Target>& families() const { return families_; }

 private:
  std::map<std::string, std::vector<Target>, std::less<>> targets_;
  std::vector<Target> families_;
};

}  // namespace gorgo::cluster
