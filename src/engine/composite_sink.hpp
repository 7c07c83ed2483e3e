#pragma once

#include <cstdint>
#include <deque>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "engine/held_bytes.hpp"
#include "engine/rule_state.hpp"
#include "history/evaluate.hpp"

namespace gorgo::engine {

/// Takes in the composites of a batch, rule after rule: evaluates `where` on complete sequences,
/// numbers the composites, and applies consumption when a terminator is done. One evaluation at a
/// time uses it; later ones use it again, for its memory.
class CompositeSink {
 public:
  struct Composite {
    std::uint32_t terminator;   ///< index among the terminators of the evaluate call
    std::uint32_t sequence;     ///< rank among the composites of its terminator
    std::uint32_t first_cell;   ///< in `cells`: one per attribute of the composite type
    std::uint32_t first_event;  ///< in `events`: one per state; only with `keep_sequences`
  };

  /// The value of `certain` that lets no terminator be put off.
  static constexpr std::uint32_t kAll = std::numeric_limits<std::uint32_t>::max();

  /// Forgets all composites, and gives back memory that only an unusual number of them needs.
  void clear();
  /// Has what composites take added to `held` from here on, which must stay as long as the sink is
  /// used. With null, as at first, what they take is not counted and has no bound.
  void count_in(HeldBytes* held) { held_ = held; }
  /// Says that the next composites are of this rule. Rule and state must stay until the next call.
  /// The first `certain` terminators have room however much is held.
  void begin_rule(const Rule& rule, RuleState& state, bool keep_sequences,
                  std::uint32_t certain = kAll);

  const std::vector<Composite>& composites() const { return composites_; }
  /// Strings refer to the history, the rule and the sink.
  std::span<const Datum> cells() const { return cells_; }
  std::span<const history::EventRef> events() const { return events_; }
  /// How many terminators of the rule in hand had too many sequences.
  std::uint64_t overflows() const { return overflows_; }
  std::size_t size() const { return composites_.size(); }

  /// Whether there is room for `more` composites and for what follows them. An evaluation stops
  /// before a terminator for which there is none.
  bool has_room(std::uint32_t terminator, std::size_t more = 0) const {
    return terminator < certain_ || held_ == nullptr || !held_->is_full(unknown_ + more * each_);
  }

  /// For each terminator call `begin`, then `accept` any number of times in sequence order, then
  /// `commit`, which brings the composites into the order that the rule asks for and cuts those
  /// beyond its limits, or `discard` to make it as if nothing had been accepted.
  void begin(std::uint32_t terminator);
  /// Takes a complete sequence that passed every filter. `aggregates` are the values of
  /// Rule::aggregates. Makes no composite when a required aggregate or an attribute has no value.
  void accept(std::span<const history::EventRef> sequence, std::span<const Datum> aggregates);
  /// Whether the terminator in hand is to be given up, by `discard`: what was accepted leaves no
  /// room. It is evaluated again when there is.
  bool is_full() const { return full_; }
  void commit();
  void discard();
  /// Does as `discard`, and counts that the terminator had too many sequences.
  void overflow();
  /// There was no memory: does as `discard` for the terminator in hand, if there is one. Returns
  /// how many terminators of the rule are done. Composites of later ones may be left, behind all
  /// others of the rule. Precondition: not `is_settling`.
  std::size_t abandon();
  /// Whether a `commit` has thrown when part of what the rule may produce was noted.
  bool is_settling() const { return settling_; }
  /// Takes the place of these calls: copies composites [first, last) of another sink of the same
  /// rule, adding `first_terminator` to their terminators. Preconditions: the rule consumes
  /// nothing, and `has_room` for them.
  void append(const CompositeSink& from, std::size_t first, std::size_t last,
              std::uint32_t first_terminator);

 private:
  struct Consumption {
    std::uint32_t state;
    history::Slot slot;
    history::Slot by;  ///< the terminator
  };

  void hold(std::size_t bytes);
  void rank();
  void cut();
  void consume();
  void keep_composites(std::span<const std::size_t> ranks);
  bool is_before(const Composite& a, const Composite& b) const;
  Datum value_of(const Expr& assignment, const history::Scope& scope);
  /// A copy of a text that lives as long as the cells.
  Datum keep(const Datum& text);

  HeldBytes* held_ = nullptr;
  std::size_t each_ = 0;     // bytes of a composite of the rule in hand, wherever they are
  std::size_t unknown_ = 0;  // bytes that `held_` does not know of yet
  std::uint32_t certain_ = kAll;
  bool full_ = false;
  bool open_ = false;      // a terminator is in hand
  bool settling_ = false;  // `commit` notes in the state of the rule what is hard to take back
  std::size_t done_ = 0;   // terminators of the rule in hand

  const Rule* rule_ = nullptr;
  RuleState* state_ = nullptr;
  bool keep_sequences_ = false;
  std::uint64_t overflows_ = 0;
  std::vector<Composite> composites_;
  std::vector<Datum> cells_;
  std::deque<std::string> texts_;  // that cells refer to, computed by functions
  std::vector<history::EventRef> events_;
  std::vector<Consumption> consumption_;  // of the terminator in hand
  history::EventRef event_;               // of the terminator in hand, with a composite
  std::uint32_t terminator_ = 0;
  std::size_t first_composite_ = 0;  // of the terminator in hand
  std::size_t first_cell_ = 0;
  std::size_t first_event_ = 0;
  std::size_t first_text_ = 0;
};

}  // namespace gorgo::engine
