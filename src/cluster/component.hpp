#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "cluster/ties.hpp"
#include "plan/plan.hpp"

namespace gorgo::cluster {

/// By type, the attributes that can be its key.
using Keys = std::map<TypeId, std::set<std::uint32_t>>;

/// Rules that must run together, by their numbers, ascending: each reads what another one produces,
/// or shares it.
std::vector<std::vector<std::uint32_t>> components_of(std::span<const plan::Plan* const> plans);

/// How a component can be divided: several ways, or for each of its rules why there is none.
struct ComponentKeys {
  std::vector<Keys> ways;            ///< the first few, in an order that depends on the rules alone
  std::vector<std::string> because;  ///< by rule of the component
};

/// Precondition: the plans are those of one component.
ComponentKeys keys_of(std::span<const plan::Plan* const> component, const Schema& schema);

}  // namespace gorgo::cluster
