#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "cluster/evaluation.hpp"

namespace gorgo::cluster {

/// What a snapshot of a partition holds besides what its processor knows and the messages that
/// wait. A value.
struct SavedPartition {
  EvaluationState evaluation;
  std::uint64_t output = 0;   ///< the last sequence that the output stream had for sure
  std::int64_t rules_at = 0;  ///< as in `Partition::State`
  std::string settings;       ///< as `settings_text` has those that decided results

  std::string to_json() const;
  /// An error: a program wrote this that this one does not understand.
  static Result<SavedPartition> parse(std::string_view json);
};

/// What decides results, of these options: two partitions whose texts differ may not take over from
/// each other.
std::string settings_text(const ProcessorOptions& options);

}  // namespace gorgo::cluster
