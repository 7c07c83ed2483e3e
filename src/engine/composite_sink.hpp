#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/rule_state.hpp"
#include "history/evaluate.hpp"

namespace gorgo::engine {

/// Where one rule's composites of a batch go: evaluates `where` on complete sequences, numbers the
/// composites, and applies consumption when a terminator is done. Used by one evaluation at a time,
/// again and again for its memory.
class CompositeSink {
 public:
  struct Composite {
    std::uint32_t terminator;  ///< index among the terminators of the evaluate call
    std::uint32_t sequence;    ///< rank among the composites of its terminator
    std::uint32_t first_cell;  ///< in `cells`: one per attribute of the composite type
  };

  /// The events of a composite's sequence, one per state. Only with `keep_sequences`.
  std::span<const history::EventRef> sequence(std::size_t composite) const {
    const std::size_t width = rule_->states.size();
    return std::span(sequences_).subspan(composite * width, width);
  }

  /// Begins with a rule: forgets the composites before. Appends the attributes of composites to
  /// `cells`; their strings refer to the history and the rule. All stay until the next call.
  void reset(const Rule& rule, RuleState& state, std::vector<Datum>& cells, bool keep_sequences);

  const std::vector<Composite>& composites() const { return composites_; }
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

 private:
  struct Consumption {
    std::uint32_t state;
    history::Slot slot;
  };

  const Rule* rule_ = nullptr;
  RuleState* state_ = nullptr;
  std::vector<Datum>* cells_ = nullptr;
  bool keep_sequences_ = false;
  std::vector<Composite> composites_;
  std::vector<history::EventRef> sequences_;
  std::vector<Consumption> consumption_;  // of the terminator in hand
  std::uint32_t terminator_ = 0;
  std::size_t first_composite_ = 0;  // of the terminator in hand
  std::size_t first_cell_ = 0;
};

}  // namespace gorgo::engine
