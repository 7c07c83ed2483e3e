#pragma once

#include <cstdint>

namespace gorgo {

/// The operations of an expression tree.
enum class Op : std::uint8_t {
  constant,   ///< `constant`
  attribute,  ///< attribute `index` of the event `source`; no value when the event lacks it
  timestamp,  ///< the time of the event `source`, int nanoseconds
  aggregate,  ///< value of `Rule::aggregates[index]`
  present,    ///< bool: the event `source` has attribute `index` (what a binding demands)
  call,       ///< `function` of `args`
  negate,
  add,
  subtract,
  multiply,
  divide,
  to_float,  ///< int -> float, to nearest (language.md §5, `where` and mixed arithmetic)
  to_int,    ///< float -> int, truncates; NaN or out of range is no value
  equal,
  not_equal,
  less,
  less_equal,
  greater,
  greater_equal,
  contains,
  logical_and,
  logical_or,
  logical_not,
};

}  // namespace gorgo
