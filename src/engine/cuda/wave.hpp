#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "engine/aggregation.hpp"
#include "engine/cuda/round_writer.hpp"
#include "engine/engine.hpp"
#include "engine/window.hpp"

namespace gorgo::engine {

/// A plan on a device.
struct DevicePlan {
  std::shared_ptr<const plan::Plan> plan;
  const history::EventStore* terminators = nullptr;
  std::vector<DeviceScan> states;  ///< of state 1 on
  std::vector<DeviceScan> negations;
  std::vector<DeviceScan> aggregates;
  /// A choice is made with negations unless more events could lie in one's interval; 0: never.
  std::uint64_t longest_inside = 0;
};

/// Calls f(scan) for all scans, also for negations that are tested with choices.
template <class Plan, class F>
void for_each_scan(Plan& plan, F f) {
  for (auto* const scans : {&plan.states, &plan.negations, &plan.aggregates}) {
    for (auto& scan : *scans) {
      f(scan);
      for (auto& negation : scan.negations) f(negation);
    }
  }
}

/// Terminators of one rule on their way through a channel of a device, all at the same time:
/// breadth first, state by state, the searches of a step in one round, or in a few where they are
/// many. Rounds may hold the searches of many waves. Where rows are few, an aggregate is asked for
/// together with the first choice that follows what it depends on: what is asked in vain costs less
/// than a round.
///
/// Where negations are completed by a state, its candidates are tested by them in one of two ways.
/// Inside: the search for candidates tests them, too, and answers with what is left. Apart: the
/// candidates that pass the conditions are found first, then, as searches of a round of their own,
/// the events that violate the negations for each of them; where too few are left the search goes
/// on. One warp tests a negation inside; all of the device tests one that is separate. So what
/// may take long is asked separately first, since mostly one of the first candidates stands, and
/// goes on inside.
class Wave {
 public:
  /// An event that was chosen where another would have been chosen without it.
  struct Reliance {
    std::uint32_t terminator;  ///< counted from the wave's first
    std::uint32_t state;
    history::Slot slot;
  };

  /// Plan and state must outlive the wave.
  Wave(DevicePlan& plan, const Terminators& terminators, const RuleState& state);

  /// Adds the searches of the next round. Returns false when none are left.
  bool ask(RoundWriter& writer);
  /// Takes the answers to what was asked.
  void take(const gpu::Answers& answers);
  /// Whether it has become too large to be done with that many terminators.
  bool is_too_large() const { return too_large_; }
  std::size_t terminators() const { return terminators_.slots.size(); }

  // Precondition of what follows: nothing is left to be asked.

  /// Whether the terminator has too many sequences.
  bool overflowed(std::uint32_t terminator) const { return overflowed_[terminator]; }
  /// The sequences of a terminator, in order, as numbers of rows.
  history::Range rows_of(std::uint32_t terminator) const {
    return {first_row_[terminator], first_row_[terminator + 1]};
  }
  std::span<const history::EventRef> row(std::size_t index) const {
    return std::span(rows_).subspan(index * width_, width_);
  }
  /// Accepts the row's sequence if it passes the filters.
  void report(std::size_t row, CompositeSink& sink) const;
  /// The reliances of a terminator in consumed states, also where no sequence came of them.
  std::span<const Reliance> reliances_of(std::uint32_t terminator) const;

 private:
  enum class Step { choose, verify, aggregate, done };
  static constexpr std::uint64_t kUnknown = ~std::uint64_t{0};
  static constexpr std::uint32_t kApart = ~std::uint32_t{0};
  /// At most so many are selected by limit; more are listed.
  static constexpr std::size_t kMostSelected = 64;

  struct Request {
    DeviceScan* scan;
    history::Range range;
    gpu::Want want;
    std::uint32_t limit;
    std::uint32_t subject;  ///< choose: in open_; verify: in candidates_; aggregate: groups_
    std::uint64_t count = kUnknown;  ///< what a search for every position finds
    std::uint32_t inside = kApart;   ///< choose: the first of its negations in inside_
    std::optional<AnswerAt> answer = std::nullopt;

    bool is_aggregate() const { return want == gpu::Want::reduction || want == gpu::Want::sum; }
  };
  /// A row that a state is to be chosen for.
  struct Open {
    std::uint32_t row;
    history::Range rest;   ///< not searched yet
    std::uint64_t wanted;  ///< so many more
    std::uint64_t asked;   ///< for so many in the last search; kUnknown: for all
    bool closed = false;   ///< nothing more is searched
  };
  struct Candidate {
    std::uint32_t open;
    std::uint64_t position;  ///< in the state's timeline; for state 0 the number of the terminator
    bool is_verified = false;
    bool violates = false;
  };
  struct Accepted {
    std::uint32_t row;
    std::uint64_t position;
    friend auto operator<=>(const Accepted&, const Accepted&) = default;
  };
  /// Rows that agree on all that an aggregate depends on.
  struct Group {
    std::uint32_t aggregate;
    std::uint32_t first_row, last_row;
  };

  void advance();
  void request_choices();
  void request_choice(std::uint32_t open);
  std::uint32_t add_inside(const Open& open);
  Inside inside(DeviceScan& negation, const Span& span, const Open& open) const;
  std::span<const Inside> inside_of(const Request& request) const;
  void request_verification();
  void request_aggregate(std::uint32_t aggregate);
  void request_aggregates_ahead();
  void request_aggregates();
  void open_state();
  bool is_moot(const Request& request) const;
  bool is_known(const Request& request) const;

  bool count_lists(const gpu::Answers& answers);
  void take(const Request& request, const gpu::Answers& answers);
  void take_candidates(const Request& request, std::span<const std::uint32_t> offsets);
  void take_offsets(const Request& request, std::span<const std::uint32_t> offsets);
  void take_reduction(const Request& request, const gpu::Reduction& reduction);
  void take_sum(const Request& request, const gpu::FloatSum& sum);
  void take_nothing(const Request& request);
  void take_known(const Request& request);
  Aggregation aggregation(const Group& group) const;
  void finish_aggregate(const Group& group, const Datum& value);

  void settle_candidates();
  void finish_state();
  void limit_sequences();
  void add_rows();

  const Rule& rule() const { return plan_.plan->rule; }
  Selection selection() const { return rule().states[state_].selection; }
  bool from_newest() const {
    return selection() == Selection::last || selection() == Selection::k_last;
  }
  void note_reliances();
  void finish();

  bool has_negations() const { return !plan_.plan->states[state_].negations.empty(); }
  std::size_t rows() const { return terminator_of_.size(); }
  history::EventRef event_of(std::uint64_t position) const;
  history::Range window(DeviceScan& scan, Interval interval) const;
  std::span<const history::EventRef> sequence_of(const Request& request);

  DevicePlan& plan_;
  Terminators terminators_;
  const RuleState& rule_state_;

  Step step_ = Step::verify;
  std::vector<Request> requests_;
  std::size_t next_request_ = 0;  // the first that was not asked yet
  std::size_t asked_ = 0;         // so many in the round

  std::size_t state_ = 0;  // the one that is being chosen
  std::size_t width_ = 0;  // of a row
  std::vector<history::EventRef> rows_;
  std::vector<std::uint32_t> terminator_of_;  // by row
  std::vector<std::uint64_t> chosen_;         // by terminator: sequences up to this state
  std::vector<bool> overflowed_;              // by terminator
  bool too_large_ = false;
  std::vector<Open> open_;
  std::vector<Inside> inside_;  // negations of the requests
  std::vector<Candidate> candidates_;
  std::vector<Accepted> accepted_;
  std::vector<Group> groups_;
  std::vector<Datum> values_;        // of the aggregates, by row; empty before one was asked for
  std::vector<bool> is_aggregated_;  // by aggregate: it was asked for
  std::vector<history::EventRef> sequence_;
  std::vector<std::uint64_t> first_row_;  // by terminator, and their end
  std::vector<Reliance> reliances_;       // by terminator
};

}  // namespace gorgo::engine
