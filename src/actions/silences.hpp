#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "doors/door.hpp"
#include "gorgo/action.hpp"
#include "gorgo/diagnostics.hpp"

namespace gorgo::actions {

/// The silences of a target: which events it does nothing about, and until when.
class Silences {
 public:
  /// Returns its id. An error: a matcher is none, or there are too many silences.
  Result<std::uint64_t> add(ActionSilence silence, Timestamp now);
  /// False: there is none of this id.
  bool end(std::uint64_t id);
  bool takes(const doors::Departing::Row& row, Timestamp now);
  const std::vector<ActionSilence>& all() const { return all_; }

 private:
  std::vector<ActionSilence> all_;  // some may be over
  std::uint64_t last_id_ = 0;

  void forget_past(Timestamp now);
};

}  // namespace gorgo::actions
