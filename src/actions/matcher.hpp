#pragma once

#include <string>
#include <vector>

#include "doors/door.hpp"
#include "gorgo/diagnostics.hpp"

namespace gorgo::actions {

/// Which events something is about: `area=A1` says what an attribute is, `type=Fire` which type it
/// is. All of them must hold; none is about every event.
using Matchers = std::vector<std::string>;

/// An error: one of them says no attribute.
Result<void> check(const Matchers& matchers);
/// Precondition: `check` found nothing wrong.
bool hold(const Matchers& matchers, const doors::Departing::Row& row);

}  // namespace gorgo::actions
