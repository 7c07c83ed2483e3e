#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "engine/cpu_engine.hpp"
#include "engine/reference/witness.hpp"
#include "engine/window.hpp"

namespace gorgo::engine {

/// The operational definition of language.md §4, step by step: it makes every partial sequence of a
/// state before the next state, and tests every candidate by every condition.
class ReferenceEvaluator final : public CpuEvaluator {
 public:
  /// `witness` may be null; else it outlives the evaluator.
  ReferenceEvaluator(std::shared_ptr<const plan::Plan> plan, history::History& history,
                     Witness* witness);

  std::size_t evaluate(const Terminators& terminators, const RuleState& state, const Budget& budget,
                       CompositeSink& sink) override;
  bool is_absent(std::uint32_t negation, std::span<const history::EventRef> sequence,
                 const RuleState& state) override;
  /// An event that violates a `within ... after`, as far as events of lower roots than
  /// `visible_roots` tell.
  std::optional<history::EventRef> violation(std::uint32_t negation,
                                             std::span<const history::EventRef> sequence,
                                             const RuleState& state, std::uint64_t visible_roots);
  std::size_t bytes() const override;

 private:
  using Sequence = std::vector<history::EventRef>;
  /// Every event of a type, in (timestamp, place) order.
  struct Events {
    std::shared_ptr<history::Column> column;
    std::shared_ptr<const history::Timeline> timeline;
  };

  enum class Outcome { complete, overflow, stopped };
  static constexpr std::uint64_t kAllRoots = ~std::uint64_t{0};

  static Events events_of(TypeId type, history::History& history);

  Outcome choose_sequences(history::EventRef terminator);
  std::vector<history::EventRef> passing_candidates(std::size_t state,
                                                    const Sequence& partial) const;
  bool is_consumed(std::size_t state, const Sequence& extended) const;
  bool passes(std::size_t state, const Sequence& extended) const;
  /// Leaves what is chosen of the candidates that pass.
  static void choose(const State& state, std::vector<history::EventRef>& passing);
  static void select(const State& state, std::vector<history::EventRef>& passing);
  /// `budget`: null where nothing tells it to return early; else what it gives is worth nothing
  /// once that is stopped.
  std::optional<history::EventRef> violation(const Negation& negation, const Events& events,
                                             std::span<const history::EventRef> sequence,
                                             const Budget* budget) const;
  bool finish(CompositeSink& sink) const;
  Datum value_of(const Aggregate& aggregate, const Events& events, const Sequence& sequence) const;

  /// Calls `f(event)` for the events inside the interval, oldest first, until it returns false.
  template <class F>
  void for_each_event(const Events& events, Interval interval, F&& f) const;
  /// Calls `f` for the newest so many of these events; for all of them, if there is no number.
  template <class F>
  void for_each_event(const Events& events, Interval interval, std::optional<std::uint64_t> newest,
                      F&& f) const;

  std::shared_ptr<const plan::Plan> plan_;
  const Rule& rule_;
  Witness* const witness_;
  const history::EventStore& terminators_;
  std::vector<Events> states_;
  std::vector<Events> negations_;
  std::vector<Events> aggregates_;                  // of those without panes
  std::vector<const history::EventStore*> summed_;  // by aggregate

  // The members below belong to the evaluation in hand.
  const RuleState* state_ = nullptr;
  const Budget* budget_ = nullptr;
  /// What was released before the terminator has a lower root; what shares its root shares its
  /// timestamp too, so that no interval holds it.
  std::uint64_t visible_roots_ = kAllRoots;
  std::vector<Sequence> sequences_;
};

/// The oracle of the differential tests. It also explains the results of the others.
class ReferenceEngine final : public CpuEngine {
 public:
  std::string_view name() const override { return "reference"; }
  bool divides_terminators() const override { return true; }
  std::vector<std::string> description() const override {
    return {"the definition of the language, literally: for tests"};
  }
  std::unique_ptr<CpuEvaluator> make(std::shared_ptr<const plan::Plan> plan,
                                     history::History& history) const override;
};

}  // namespace gorgo::engine
