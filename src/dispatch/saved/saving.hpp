#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "dispatch/order/dispatcher.hpp"
#include "dispatch/order/sequencer.hpp"
#include "dispatch/rules/rule_set.hpp"
#include "dispatch/saved/saved_buffers.hpp"
#include "gorgo/diagnostics.hpp"
#include "gorgo/processor.hpp"
#include "history/history.hpp"

namespace gorgo::saved {
struct RuleT;
struct RulesT;
struct StateT;
}  // namespace gorgo::saved

namespace gorgo::dispatch {

/// Saves what a processor would have to know to go on from here: what evaluation changes of rules
/// at once, then their texts and the events that are remembered a few at a time, while evaluation
/// goes on. Until an event is saved, the history keeps it. The format is saved.fbs.
///
/// Invariant: between `begin` and the end no rule is deployed or removed.
class Saving {
 public:
  Saving(const RuleSet& rules, history::History& history, const Sequencer& sequencer,
         const Arrivals& arrivals, const Dispatcher& dispatcher, const ProcessorCounters& counters)
      : rules_(rules),
        history_(history),
        sequencer_(sequencer),
        arrivals_(arrivals),
        dispatcher_(dispatcher),
        counters_(counters) {}

  /// Begins, and returns the state. An error: the state cannot be brought back.
  Result<Processor::SavedPart> begin();
  bool is_on() const { return is_on_; }
  /// A text, some rules, or some events of about so many bytes; unset: those before were the last.
  std::optional<Processor::SavedPart> next(std::size_t bytes);
  /// Ends it, also in the middle.
  void end();

 private:
  /// A rule as it was when saving began.
  struct Moment {
    std::uint32_t number, source;
    std::uint64_t terminators, composites, overflows, passed_over;
    bool suspended;
    std::shared_ptr<saved::RuleT> memory;  // null: it remembered nothing beside events
  };
  /// Events of a type that are not saved yet.
  struct Rest {
    TypeId type;
    history::Slot next, end;
  };

  const RuleSet& rules_;
  history::History& history_;
  const Sequencer& sequencer_;
  const Arrivals& arrivals_;
  const Dispatcher& dispatcher_;
  const ProcessorCounters& counters_;
  std::vector<std::shared_ptr<const RuleText>> texts_;  // that rules in force stand in
  std::vector<Moment> moments_;                         // by number
  std::size_t next_text_ = 0, next_moment_ = 0;         // that are not saved yet
  std::vector<Rest> rest_;                              // the next type's at the back
  std::shared_ptr<SavedBuffers> buffers_;  // shared with the parts that are somewhere yet
  bool is_on_ = false;

  using TextNumbers = std::map<const RuleText*, std::uint32_t>;

  void add_counters(saved::StateT& state) const;
  std::uint32_t source_of(const DeployedRule& rule, TextNumbers& numbers);
  Result<void> note_rules();
  Result<void> note_texts();
  std::uint32_t rule_parts() const;
  saved::RuleT rule_at(Moment& moment) const;
  std::optional<Processor::SavedPart> next_rules();
  void forget_rules();
};

}  // namespace gorgo::dispatch
