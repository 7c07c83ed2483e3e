#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "engine/automaton/model.hpp"
#include "engine/automaton/partial_sequences.hpp"
#include "engine/column/finder.hpp"
#include "engine/engine.hpp"
#include "history/history.hpp"

namespace gorgo::engine {

/// The time before every event.
inline constexpr Timestamp kBeginning = std::numeric_limits<Timestamp>::min();

/// The partial sequences of a rule up to a moment, brought forward in time event by event. They can
/// be rebuilt from the history at any time.
class Instances {
 public:
  enum class Outcome { complete, too_many, stopped };

  /// All must outlive the instances; `negations` are those of the rule.
  Instances(const plan::Plan& plan, const Model& model, std::vector<Finder>& negations,
            history::History& history);

  /// Takes in the events before `until` that a terminator at that time can reach. After any outcome
  /// but `complete` everything is forgotten. Preconditions, unless `clear` came in between: `until`
  /// is not before that of an earlier call, and all events before that were known to it.
  Outcome advance(Timestamp until, const RuleState& state, const Budget& budget);
  /// Forgets everything, as if nothing had been taken in.
  void clear();
  /// The time up to which events have been taken in.
  Timestamp advanced_to() const { return advanced_to_; }

  const PartialSequences& pool(std::uint32_t index) const { return pools_[index]; }
  const history::EventStore& store(std::uint32_t state) const { return *stores_[state]; }

  /// Whether the tests hold; `sequence` has an event wherever they look.
  bool pass(const Tests& tests, std::span<const history::EventRef> sequence,
            const RuleState& state);
  bool is_absent(std::uint32_t negation, std::span<const history::EventRef> sequence,
                 const RuleState& state);
  /// The hash of what the key of the pool's partial sequences must equal, if anything can.
  std::optional<std::uint64_t> wanted(std::uint32_t pool,
                                      std::span<const history::EventRef> sequence);

  std::size_t bytes() const;
  /// See Evaluator.
  double upkeep() const;

 private:
  /// The events of a state, and the first that is not taken in yet.
  struct Source {
    std::shared_ptr<history::Column> column;  // keeps the timeline up to date
    std::shared_ptr<const history::Timeline> timeline;
    std::uint64_t next = 0;
  };

  void skip_unreachable(Timestamp until);
  Timestamp horizon(std::size_t state, Timestamp until) const;
  /// The state of the earliest event before `until` that is not taken in; 0 if there is none.
  std::uint32_t next_state(Timestamp until) const;
  // The next three return false, with the reason in `outcome_`, when they had to give up.
  bool take(std::uint32_t state, history::Slot slot);
  bool extend(const JoinModel& join, std::size_t step);
  bool add(std::uint32_t pool);

  void choose(const ChoiceModel& choice, std::vector<history::Slot>& chosen);
  void drop_expired(Timestamp now);
  void bind(std::uint32_t pool, std::uint64_t position);
  Interval window(std::uint32_t pool) const;
  std::optional<std::uint64_t> hash_of(std::uint32_t pool, Expr KeyPart::*side,
                                       std::span<const history::EventRef> sequence);

  const Rule& rule_;
  const Model& model_;
  std::vector<Finder>& negations_;
  std::vector<const history::EventStore*> stores_;  // by state
  std::vector<Source> sources_;                     // by state; the first is unused
  std::vector<PartialSequences> pools_;             // by pool of the model
  std::uint64_t held_ = 0;                          // in all pools
  Timestamp advanced_to_;

  // The members below belong to the event in hand.
  const RuleState* state_ = nullptr;
  const Budget* budget_ = nullptr;
  Outcome outcome_ = Outcome::complete;
  const StateModel* taken_ = nullptr;
  Timestamp now_ = 0;
  std::vector<history::EventRef> sequence_;
  std::vector<std::vector<history::Slot>> chosen_;  // by choice of the state
  std::vector<Datum> key_;                          // scratch of hash_of
  std::vector<history::Slot> events_;               // scratch of add
};

}  // namespace gorgo::engine
