#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/rule_state.hpp"
#include "history/evaluate.hpp"

namespace gorgo::engine {

/// Where the composites of a batch go, rule after rule: evaluates `where` on complete sequences,
/// numbers the composites, and applies consumption when a terminator is done. Used by one
/// evaluation at a time, again and again for its memory.
class CompositeSink {
 public:
  struct Composite {
    std::uint32_t terminator;   ///< index among the terminators of the evaluate call
    std::uint32_t sequence;     ///< rank among the composites of its terminator
    std::uint32_t first_cell;   ///< in `cells`: one per attribute of the composite type
    std::uint32_t first_event;  ///< in `events`: one per state; only with `keep_sequences`
  };

  /// Forgets all composites.
  void clear();
  /// The next composites are of this rule. Both must stay until the next call.
  void begin_rule(const Rule& rule, RuleState& state, bool keep_sequences);

  const std::vector<Composite>& composites() const { return composites_; }
  /// Strings refer to the history and the rule.
  std::span<const Datum> cells() const { return cells_; }
  std::span<const history::EventRef> events() const { return events_; }
  /// Of the rule in hand: terminators that had too many sequences.
  std::uint64_t overflows() const { return overflows_; }
  std::size_t size() const { return composites_.size(); }

  /// The calls for one terminator: `begin`, any number of `accept` in sequence order, then
  /// `commit`, or `discard` to make it as if nothing had been accepted.
  void begin(std::uint32_t terminator);
  /// A complete sequence that passed every filter. `aggregates` are the values of
  /// Rule::aggregates. No composite when a required aggregate or an attribute has no value.
  void accept(std::span<const history::EventRef> sequence, std::span<const Datum> aggregates);
  void commit();
  void discard();
  /// As `discard`, and counts that the terminator had too many sequences.
  void overflow();
  /// Instead of these calls: composites [first, last) of another sink, of the same rule, as those
  /// of terminators behind `first_terminator`. The rule consumes nothing.
  void append(const CompositeSink& from, std::size_t first, std::size_t last,
              std::uint32_t first_terminator);

 private:
  struct Consumption {
    std::uint32_t state;
    history::Slot slot;
    history::Slot by;  ///< the terminator
  };

  const Rule* rule_ = nullptr;
  RuleState* state_ = nullptr;
  bool keep_sequences_ = false;
  std::uint64_t overflows_ = 0;
  std::vector<Composite> composites_;
  std::vector<Datum> cells_;
  std::vector<history::EventRef> events_;
  std::vector<Consumption> consumption_;  // of the terminator in hand
  std::uint32_t terminator_ = 0;
  std::size_t first_composite_ = 0;  // of the terminator in hand
  std::size_t first_cell_ = 0;
  std::size_t first_event_ = 0;
};

}  // namespace gorgo::engine
