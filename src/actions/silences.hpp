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
  Silences() = default;
  /// Those that `saved` has told of. What is no such text has none.
  explicit Silences(const std::string& saved);

  /// Returns its id. An error: a matcher is none, there are too many silences, or it is too long.
  Result<std::uint64_t> add(ActionSilence silence, Timestamp now);
  /// False: there is none of this id.
  bool end(std::uint64_t id);
  bool takes(const doors::Departing::Row& row, Timestamp now);
  std::vector<ActionSilence> all(Timestamp now) const;
  /// All that there is to know, for the journal.
  std::string saved() const;

 private:
  std::vector<ActionSilence> all_;  // some may be over
  std::uint64_t last_id_ = 0;

  void forget_past(Timestamp now);
};

}  // namespace gorgo::actions
