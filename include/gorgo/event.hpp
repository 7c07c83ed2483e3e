#pragma once

#include <optional>
#include <string>
#include <vector>

#include "gorgo/value.hpp"

namespace gorgo {

struct Attribute {
  std::string name;
  Value value;
};

/// One event by names, as programs and files write it. Engines never see this form.
struct Event {
  std::string type;
  std::optional<Timestamp> timestamp;  ///< absent: whoever releases the event stamps it
  std::vector<Attribute> attributes;
};

/// Where an event stands in the total order of released events (language.md §1): a primitive event
/// has ordinal 0, the composites it causes follow with 1, 2, ... in place order.
struct Place {
  std::uint64_t root = 0;     ///< number of the primitive event in the released sequence, from 1
  std::uint32_t ordinal = 0;  ///< rank among the events of this root

  friend auto operator<=>(const Place&, const Place&) = default;
};

}  // namespace gorgo
