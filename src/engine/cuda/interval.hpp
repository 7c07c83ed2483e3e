#pragma once

#include "cuda/layout.hpp"
#include "gorgo/value.hpp"

namespace gorgo::engine {

/// The words of an attribute for which `attribute op value` holds, as an interval whose bounds
/// belong to it. Ints stand for strings and bools, too. An int against a float is compared exactly.
/// `op` is no inequality; a NaN as value gives an empty interval.
gpu::Bounds interval_of_integers(Op op, const Datum& value);
gpu::Bounds interval_of_floats(Op op, const Datum& value);

/// All words; for floats, all but NaN.
gpu::Bounds everything(bool floats);
gpu::Bounds intersection(bool floats, const gpu::Bounds& a, const gpu::Bounds& b);
bool is_empty(bool floats, const gpu::Bounds& bounds);

}  // namespace gorgo::engine
