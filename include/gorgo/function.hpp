#pragma once

#include <cstdint>

namespace gorgo {

/// The functions of expressions. What each takes and gives stands in src/functions/catalogue.cpp.
enum class Function : std::uint8_t {
  abs,
  sign,
  floor,
  ceil,
  round,
  mod,
  min,
  max,
  sqrt,
  exp,
  ln,
  log10,
  pow,
  sin,
  cos,
  atan2,
  geo_distance,
  length,
  lower,
  upper,
  concat,
  starts_with,
  ends_with,
  substring,
  like,
  matches,
  exists,
  coalesce,
  choose,  ///< `if(condition, a, b)`
  year,
  month,
  day,
  hour,
  minute,
  second,
  weekday,
  date,
  truncate,
  time,
};

}  // namespace gorgo
