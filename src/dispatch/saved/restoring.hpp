#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "dispatch/order/dispatcher.hpp"
#include "dispatch/order/sequencer.hpp"
#include "dispatch/rules/rule_set.hpp"
#include "gorgo/diagnostics.hpp"
#include "history/history.hpp"

namespace gorgo::saved {
struct RuleT;
struct SourceT;
struct StateT;
struct TypeT;
}  // namespace gorgo::saved

namespace gorgo::dispatch {

/// Brings back what was saved, in a processor that has no rules and has seen no event.
class Restoring {
 public:
  using MakeHeader = std::function<std::shared_ptr<Header>(std::string_view type,
                                                           std::span<const std::string_view>)>;

  Restoring(RuleSet& rules, history::History& history, Sequencer& sequencer, Arrivals& arrivals,
            Dispatcher& dispatcher, ProcessorCounters& counters, MakeHeader make_header)
      : rules_(rules),
        history_(history),
        sequencer_(sequencer),
        arrivals_(arrivals),
        dispatcher_(dispatcher),
        counters_(counters),
        make_header_(std::move(make_header)) {}

  /// The next of what was saved, in the same order.
  Result<void> take(std::span<const std::byte> saved);
  /// There is no more. An error: something is missing, or does not fit this program.
  Result<void> finish();

 private:
  RuleSet& rules_;
  history::History& history_;
  Sequencer& sequencer_;
  Arrivals& arrivals_;
  Dispatcher& dispatcher_;
  ProcessorCounters& counters_;
  const MakeHeader make_header_;
  std::shared_ptr<saved::StateT> state_;  // null before the first call of `take`
  std::uint32_t rule_parts_ = 0;          // that are to come
  Schema schema_;
  std::vector<Datum> cells_;
  std::vector<history::NewEvent> events_;

  /// A text that was in force, and the plans of all its rules by name.
  struct TextAgain {
    std::shared_ptr<const RuleText> text;
    std::unordered_map<std::string_view, std::shared_ptr<const plan::Plan>> plans;
  };

  Result<void> take_first(std::span<const std::byte> bytes);
  Result<void> take_rules(std::span<const std::byte> bytes);
  Result<void> take_state();
  Result<void> take_types();
  bool take_members(const saved::TypeT& type, EventType& joint) const;
  Result<void> take_events(std::span<const std::byte> bytes);
  Result<std::vector<RuleSet::Saved>> rules_by_number() const;
  Result<TextAgain> text_again(const saved::SourceT& source) const;
  Result<void> restore_state(const saved::RuleT& rule);
  Result<void> restore_input();
};

}  // namespace gorgo::dispatch
