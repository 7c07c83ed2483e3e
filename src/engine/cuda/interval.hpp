#pragma once

#include "cuda/layout.hpp"
#include "gorgo/value.hpp"

namespace gorgo::engine {

/// The words of an attribute for which `attribute op value` holds, as an interval whose bounds
/// belong to it. Ints stand for strings and bools, too. An int against a float is compared exactly.
/// `op` is no inequality; a NaN as value gives an empty interval.
cuda::Bounds interval_of_integers(Op op, const Datum& value);
cuda::Bounds interval_of_floats(Op op, const Datum& value);

/// All words; for floats, all but NaN.
cuda::Bounds everything(bool floats);
cuda::Bounds intersection(bool floats, const cuda::Bounds& a, const cuda::Bounds& b);
bool is_empty(bool floats, const cuda::Bounds& bounds);

}  // namespace gorgo::engine
