#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "plan/plan.hpp"

namespace gorgo::dispatch {

/// How many rules read how much of a type.
struct TypeReads {
  std::map<Duration, std::uint32_t> reaches;  ///< behind the clock: how many rules read so far
  std::vector<std::uint32_t> attributes;      ///< by attribute: how many rules read it
  std::uint32_t joint_uses = 0;               ///< how many times rules read it by a joint type

  /// Counts rules that come, or that go. Precondition of the latter: they were added.
  void add(const TypeReads& more);
  void subtract(const TypeReads& less);
};

/// By type what some rules read of it.
using Reads = std::map<TypeId, TypeReads>;

/// Adds what a rule reads. One that reads a joint type reads its members.
void add_reads(const plan::Plan& plan, Reads& reads);

}  // namespace gorgo::dispatch
