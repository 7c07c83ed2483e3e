#pragma once

#include <string>

#include "actions/dead_orders.hpp"
#include "actions/silences.hpp"

namespace gorgo::actions {

/// What a target is to know again when the server has started anew. One thread at a time.
struct TargetState {
  Silences silences;
  DeadOrders dead;

  TargetState() = default;
  /// What `saved` has told of. What is no such text has nothing.
  explicit TargetState(const std::string& saved);
  std::string saved() const;
};

}  // namespace gorgo::actions
