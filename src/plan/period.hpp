#pragma once

#include "gorgo/rule.hpp"

namespace gorgo::plan {

/// The time from one instant of a timer to the next, in nanoseconds. Days of a zone may be an hour
/// longer or shorter.
Duration period_of(const Timer& timer);

/// An instant of a timer as a time behind the epoch, in nanoseconds, on the clocks of its zone: the
/// others are any number of periods earlier or later.
Duration offset_of(const Timer& timer);

}  // namespace gorgo::plan
