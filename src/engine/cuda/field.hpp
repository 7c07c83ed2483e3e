#pragma once

#include <cstdint>

namespace gorgo::engine {

/// What a device has of the events of a column: one word for each event, or several.
struct Field {
  enum class Kind : std::uint8_t {
    value,      ///< an attribute of the type; a string is there as its code
    text,       ///< an attribute of the type whose strings are there as text
    timestamp,  ///< when the event happened
    root,       ///< `Place::root` of the event
    consumer    ///< the terminator that consumed the event, see ConsumedMarks
  };

  Kind kind = Kind::value;
  std::uint32_t attribute = 0;  ///< index in the type; 0 where the field is no attribute of it

  bool is_attribute() const { return kind == Kind::value || kind == Kind::text; }
  friend bool operator==(const Field&, const Field&) = default;
};

}  // namespace gorgo::engine
