#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "dispatch/explain/witness_text.hpp"
#include "engine/reference/witness.hpp"
#include "gorgo/why.hpp"
#include "history/history.hpp"

namespace gorgo::dispatch {

/// Makes a funnel of what the reference engine does for a terminator.
class FunnelWitness final : public engine::Witness {
 public:
  /// All must outlive the witness.
  FunnelWitness(const Rule& rule, const Schema& schema, const history::History& history);

  /// What is told from now on belongs to this event of the type of state 0.
  void begin(history::EventRef terminator);
  /// The deadline of a composite is over, and no negation was violated.
  void absent();
  /// The deadline of a composite is over, and `by` came, which the negation forbids.
  void came(std::uint32_t negation, Sequence sequence, history::EventRef by);
  /// The funnel of the terminator. It has `composites` composites, `waiting` more wait for their
  /// deadlines, and `cut` came too soon after others.
  Funnel take(std::uint64_t composites, std::uint64_t waiting, std::uint64_t cut);

  void search(std::size_t state, Sequence partial, engine::Interval window) override;
  void consumed(std::size_t state, Sequence extended, history::EventRef by) override;
  void failed(std::size_t state, std::size_t condition, Sequence extended) override;
  void violated(std::size_t state, std::size_t negation, Sequence extended,
                history::EventRef by) override;
  void passed(std::size_t state) override;
  void chosen(std::size_t state, std::size_t sequences) override;
  void complete(Sequence sequence, std::span<const Datum> aggregates, std::size_t filter) override;

 private:
  using Events = std::vector<history::EventRef>;
  /// What a test looks at: a condition, the violated negation, or a value that there should be.
  struct Test {
    Loss::Kind kind;
    std::uint32_t index = 0;  ///< of the condition, negation, filter, aggregate or assignment
    bool required = false;    ///< for no_value: `index` is that of an aggregate
  };
  /// The sequence that came nearest among those that failed a test.
  struct Nearest {
    Nearness nearness;
    Events sequence;
    std::vector<Datum> aggregates;
    std::optional<history::EventRef> by;
  };
  struct LossTally {
    std::uint64_t count = 0;
    std::optional<Nearest> nearest;
  };
  struct Tally {
    std::uint64_t sequences = 0, candidates = 0, passed = 0, left = 0;
    std::vector<LossTally> losses;
  };
  struct Search {
    Events partial;
    engine::Interval window;
  };

  void add_step(Step::Kind kind, std::string clause, const std::vector<Test>& tests);
  void add_state(std::uint32_t state);
  void add_filters_and_where();
  std::string text_of(std::size_t step, const Test& test) const;

  void lose(std::size_t step, Loss::Kind kind, std::uint32_t index, Nearest nearest);
  std::size_t find_loss(std::size_t step, Loss::Kind kind, std::uint32_t index) const;
  void count_values(std::size_t step, Sequence sequence, std::span<const Datum> aggregates);
  std::string consumer(history::EventRef by) const;
  Miss miss(std::size_t step, std::size_t loss) const;
  std::optional<Miss> outside(std::size_t state) const;
  std::optional<Miss> nearest_miss(const std::vector<Step>& steps) const;

  const Rule& rule_;
  const history::History& history_;
  WitnessText text_;
  std::vector<Step> steps_;               // without numbers
  std::vector<std::vector<Test>> tests_;  // by step
  std::size_t absence_step_ = 0;

  // The members below are about the terminator in hand.
  history::EventRef terminator_;
  std::vector<Tally> tallies_;    // by step
  std::vector<Search> searches_;  // by state: the last one
  std::uint64_t complete_ = 0;
};

}  // namespace gorgo::dispatch
