#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/cuda/inside_negations.hpp"
#include "engine/cuda/pass_input.hpp"
#include "engine/cuda/search_queue.hpp"
#include "engine/cuda/sequence_table.hpp"

namespace gorgo::engine {

/// The choice of events for a state, for all rows of a table: candidates are searched for, tested
/// by negations and accepted, until each row has as many as its selection wants or there are none
/// left.
class StateChoice final : public SearchOwner {
 public:
  /// Several terminators together may have at most so many candidates or rows.
  static constexpr std::size_t kMostRows = 1 << 22;

  /// An event that passes the state's conditions.
  struct Candidate {
    std::uint32_t open;        ///< for which row, as the choice numbers them
    std::uint64_t position;    ///< as for PassInput::event
    bool is_verified = false;  ///< the search has tested the negations
    bool violates = false;     ///< a negation
  };

  /// Begins with state 0, whose candidates are the terminators. Both must outlive the choice.
  StateChoice(const PassInput& input, SequenceTable& table);
  /// Begins with the next state. Returns whether there is anything to search.
  bool begin_next();
  std::size_t state() const { return state_; }

  /// Asks for the next candidates of the rows that want some.
  void request(SearchQueue& queue);
  std::span<const Candidate> candidates() const { return candidates_; }
  /// The row with the candidate behind it. Valid until the next call.
  std::span<const history::EventRef> sequence_of(const Candidate& candidate);
  void reject(std::size_t candidate) { candidates_[candidate].violates = true; }
  /// Accepts candidates that no negation rejects. Returns whether a row wants more that may be
  /// there.
  bool settle();
  /// What was accepted, in the order of rows and positions.
  std::span<const SequenceTable::Extension> accepted();
  /// Whether there are too many candidates to go on with several terminators.
  bool is_too_large() const { return too_large_; }

  std::span<const history::EventRef> sequence_of(const QueuedSearch& search) override;
  std::span<const InsideNegation> negations_of(const QueuedSearch& search) const override;
  bool is_moot(const QueuedSearch& search) const override;
  void take_offsets(const QueuedSearch& search, std::span<const std::uint32_t> offsets) override;
  void take_nothing(const QueuedSearch& search) override;
  void take_count(const QueuedSearch& search) override;

 private:
  static constexpr std::uint64_t kAll = ~std::uint64_t{0};

  /// A row that the state is to be chosen for.
  struct Open {
    std::uint32_t row;
    history::Range rest;   ///< not searched yet
    std::uint64_t wanted;  ///< so many more, or kAll
    std::uint64_t asked;   ///< for so many in the last search, or kAll
    bool closed = false;   ///< nothing more is searched
  };

  void request(std::uint32_t open, SearchQueue& queue);
  const State& rule_state() const { return input_.rule().states[state_]; }
  bool is_each() const { return rule_state().selection == Selection::each; }
  bool from_newest() const {
    return rule_state().selection == Selection::last || rule_state().selection == Selection::k_last;
  }

  const PassInput& input_;
  SequenceTable& table_;
  std::size_t state_ = 0;
  std::vector<Open> open_;
  InsideNegations inside_;
  std::vector<Candidate> candidates_;  // row by row, in the order of the search
  std::vector<SequenceTable::Extension> accepted_;
  std::vector<history::EventRef> sequence_;
  bool too_large_ = false;
};

}  // namespace gorgo::engine
