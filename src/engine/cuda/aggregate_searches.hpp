#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/aggregation.hpp"
#include "engine/cuda/pass_input.hpp"
#include "engine/cuda/search_queue.hpp"
#include "engine/cuda/sequence_table.hpp"

namespace gorgo::engine {

/// The aggregates of a rule for all rows of a table. Rows that agree on all that an aggregate
/// depends on share a search.
class AggregateSearches final : public SearchOwner {
 public:
  /// Both must outlive this.
  AggregateSearches(const PassInput& input, SequenceTable& table);

  /// Asks for the aggregates that depend on no further state, if rows are few: what is asked in
  /// vain costs less than a round. The answers must be taken before the table is extended.
  void request_ahead(SearchQueue& queue);
  /// Asks for those that were not asked for.
  void request(SearchQueue& queue);

  std::span<const history::EventRef> sequence_of(const QueuedSearch& search) override {
    return table_.row(groups_[search.subject].rows.first);
  }
  void take_reduction(const QueuedSearch& search, const gpu::Reduction& reduction) override;
  void take_sum(const QueuedSearch& search, const gpu::FloatSum& sum) override;
  void take_nothing(const QueuedSearch& search) override;

 private:
  /// Rows that agree on all that an aggregate depends on.
  struct Group {
    std::uint32_t aggregate;
    history::Range rows;
  };

  void request(std::uint32_t aggregate, SearchQueue& queue);
  Aggregation begin(const Group& group) const;
  void finish(const Group& group, const Aggregation& aggregation) {
    table_.set_value(group.aggregate, group.rows, aggregation.result());
  }
  const Aggregate& aggregate(const Group& group) const {
    return input_.rule().aggregates[group.aggregate];
  }

  const PassInput& input_;
  SequenceTable& table_;
  std::vector<Group> groups_;       // subjects of the searches
  std::vector<bool> is_requested_;  // by aggregate
};

}  // namespace gorgo::engine
