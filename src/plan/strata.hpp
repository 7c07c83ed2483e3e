#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "gorgo/schema.hpp"
#include "plan/plan.hpp"

namespace gorgo::plan {

/// Types that feed each other, and the rules that close the cycles among them. They run root by
/// root, when everything else that feeds the types is complete.
struct Cycle {
  std::uint32_t level = 0;           ///< of its types
  std::vector<TypeId> types;         ///< ascending
  std::vector<std::uint32_t> rules;  ///< ascending: read and produce types of the cycle
};

/// The stratification of rules by what they read and produce (language.md §7).
struct Strata {
  /// By rule: the highest level of a type it reads; for a rule of a cycle, the cycle's.
  std::vector<std::uint32_t> rules;
  std::vector<std::uint32_t> types;  ///< by TypeId: 0, or above every rule producing it
  std::vector<Cycle> cycles;
};

/// The shortest way from the least type of a cycle back to it, for people to read: each type is
/// made from the one before, the first from the last. `plans` are those of the rules that close the
/// cycle.
std::vector<TypeId> way_round(std::span<const Plan* const> plans);
/// The plans of the rules that close a cycle, `plans` being those of all rules.
std::vector<const Plan*> plans_of(const Cycle& cycle, std::span<const Plan* const> plans);

inline constexpr std::uint32_t kNoCycle = ~std::uint32_t{0};

/// `type_count`: every TypeId is below.
Strata stratify(std::span<const Plan* const> plans, TypeId type_count);

}  // namespace gorgo::plan
