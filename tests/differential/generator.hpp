#pragma once

#include <string>
#include <vector>

#include "gorgo/event.hpp"

namespace gorgo::testing {

/// Random rule files over the types A, B and C (declared) and U (inferred), and streams of their
/// events. Both are drawn through RapidCheck, so that a failing case shrinks; call inside a
/// property.
std::string random_rules();
/// What to deploy before them: it says what the types are.
std::string type_rules();
/// An event without a type is a tick.
std::vector<Event> random_stream();

}  // namespace gorgo::testing
