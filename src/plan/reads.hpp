#pragma once

#include <cstdint>
#include <set>
#include <utility>

#include "gorgo/rule.hpp"
#include "plan/plan.hpp"

namespace gorgo::plan {

/// An attribute of an event type, by its index there.
using TypeAttribute = std::pair<TypeId, std::uint32_t>;

/// The attributes of events that a rule reads, in conditions, aggregates, or for its composites.
std::set<TypeAttribute> attributes_read(const Rule& rule);

/// The types whose events the rule reads: the members of a joint type in its place.
std::set<TypeId> types_read(const Plan& plan);

}  // namespace gorgo::plan
