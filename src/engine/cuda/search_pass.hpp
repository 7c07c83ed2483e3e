#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/composite_sink.hpp"
#include "engine/cuda/aggregate_searches.hpp"
#include "engine/cuda/pass_input.hpp"
#include "engine/cuda/search_queue.hpp"
#include "engine/cuda/separate_negations.hpp"
#include "engine/cuda/sequence_table.hpp"
#include "engine/cuda/state_choice.hpp"

namespace gorgo::engine {

/// Terminators of one rule on their way through a channel of a device, all at the same time:
/// breadth first, state by state, the searches of a step in one round, or in a few where they are
/// many. Rounds may hold the searches of many passes. Where rows are few, an aggregate is asked for
/// together with the first choice that follows what it depends on.
///
/// Where negations are completed by a state, its candidates are tested by them in one of two ways:
/// by the search that finds them (InsideNegations), or by searches of a further round
/// (SeparateNegations).
class SearchPass {
 public:
  /// An event that was chosen where another would have been chosen without it.
  struct Dependency {
    std::uint32_t terminator;  ///< counted from the pass's first
    std::uint32_t state;
    history::Slot slot;
  };

  /// Plan and state must outlive the pass.
  SearchPass(DevicePlan& plan, const Terminators& terminators, const RuleState& state);
  SearchPass(const SearchPass&) = delete;
  SearchPass& operator=(const SearchPass&) = delete;

  /// Adds the searches of the next round. Returns false when none are left. Throws DeviceError.
  bool ask(RoundWriter& writer);
  /// Takes the answers to what was asked. Throws DeviceError.
  void take(const gpu::Answers& answers) { queue_.take(answers); }
  /// Whether it has become too large to be done with that many terminators.
  bool is_too_large() const { return too_large_ || choice_.is_too_large(); }
  std::size_t terminators() const { return table_.terminators(); }

  // Precondition of what follows: nothing is left to be asked.

  /// Whether the terminator has too many sequences.
  bool overflowed(std::uint32_t terminator) const { return table_.overflowed(terminator); }
  /// The sequences of a terminator, in order, as numbers of rows.
  history::Range rows_of(std::uint32_t terminator) const { return table_.rows_of(terminator); }
  std::span<const history::EventRef> row(std::size_t number) const { return table_.row(number); }
  /// Accepts the row's sequence if it passes the filters.
  void report(std::size_t row, CompositeSink& sink) const;
  /// The dependencies of a terminator in consumed states, also where no sequence came of them.
  std::span<const Dependency> dependencies_of(std::uint32_t terminator) const;

 private:
  enum class Step { choose, verify, aggregate, done };

  void advance();
  void choose();
  void finish_state();
  void note_dependencies(std::span<const SequenceTable::Extension> accepted);
  void finish();
  const Rule& rule() const { return input_.rule(); }

  const PassInput input_;
  SequenceTable table_;
  StateChoice choice_;
  SeparateNegations negations_;
  AggregateSearches aggregates_;
  SearchQueue queue_;
  Step step_ = Step::verify;  // what the queue's searches are for
  bool too_large_ = false;
  std::vector<Dependency> dependencies_;  // by terminator, when it is done
};

}  // namespace gorgo::engine
