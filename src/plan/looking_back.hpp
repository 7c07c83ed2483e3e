#pragma once

#include <cstdint>
#include <optional>

#include "gorgo/rule.hpp"
#include "gorgo/schema.hpp"

namespace gorgo::plan {

/// Two states of which the first one's window looks back from the second, directly or by others.
struct LookingBack {
  std::uint32_t state = 0;
  std::uint32_t from = 0;
};

/// Finds states that the text of a rule takes to come one after the other although the window looks
/// back: `B.timestamp > A.timestamp` or `B.timestamp - A.timestamp` with B in a window before A, an
/// alias such as `Next`, or a name such as `AThenB`. Nothing where the text suggests no such thing.
std::optional<LookingBack> taken_to_come_after(const Rule& rule, const Schema& schema);

}  // namespace gorgo::plan
