#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include "dispatch/evaluate/batch.hpp"
#include "dispatch/rules/rule_set.hpp"
#include "gorgo/processor.hpp"

namespace gorgo::dispatch {

/// Drops the composites of each root beyond a limit. They are the later ones by stratum of the
/// producing rule, then by place: so nobody has used a dropped composite, and it does not matter
/// where batches and waves are cut.
class CompositeLimit {
 public:
  /// `most`: composites of a root. Dropped ones are counted in `counters`.
  CompositeLimit(const RuleSet& rules, ProcessorCounters& counters, std::uint64_t most)
      : rules_(rules), counters_(counters), most_(most) {}

  /// To be applied when the rules of a level have run, to the records that `is_known` is true for.
  void apply_to_level(Batch& batch, std::uint32_t level,
                      const std::function<bool(const Record&)>& is_known);
  /// Does that for one root of a cycle. The records from `first_new` on are the latest step.
  void apply_to_root(Batch& batch, std::uint64_t root, std::size_t first_new);
  /// Notes that what would come of the record is dropped, because the record is too deep.
  void drop_too_deep(const Batch& batch, const Record& record);

  /// Composites of a root that are not dropped.
  std::uint64_t most() const { return most_; }
  const DroppedComposite& last_dropped() const { return last_; }

 private:
  void drop(Batch& batch, Records& records, std::uint64_t earlier);
  void note(const Batch& batch, const Record& record);

  const RuleSet& rules_;
  ProcessorCounters& counters_;
  const std::uint64_t most_;
  DroppedComposite last_;
};

}  // namespace gorgo::dispatch
