#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "gorgo/schema.hpp"
#include "plan/plan.hpp"

namespace gorgo::dispatch {

/// The stratification of rules by what they read and produce (TESLA.md §7).
struct Strata {
  std::vector<std::uint32_t> rules;  ///< level by rule: the highest level of a type it reads
  std::vector<std::uint32_t> types;  ///< level by TypeId: 0, or one above every rule producing it
  /// Types along a cycle, the first repeated at the end; empty when there is none. With a cycle
  /// the levels mean nothing.
  std::vector<TypeId> cycle;
};

/// `type_count`: every TypeId is below.
Strata stratify(std::span<const plan::Plan* const> plans, TypeId type_count);

}  // namespace gorgo::dispatch
