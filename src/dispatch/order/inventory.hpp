#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "dispatch/order/arrivals.hpp"
#include "dispatch/order/sequencer.hpp"
#include "dispatch/rules/rule_set.hpp"
#include "gorgo/processor.hpp"
#include "history/history.hpp"

namespace gorgo::dispatch {

/// Says of rules and types what people and programs ask about them: what they are, what has come,
/// what it cost and what is remembered. It changes nothing. Thread-safety: as the processor.
class Inventory {
 public:
  /// All must outlive it.
  Inventory(const RuleSet& rules, const history::History& history, const Sequencer& sequencer,
            const Arrivals& arrivals, const ProcessorCounters& counters)
      : rules_(rules),
        history_(history),
        sequencer_(sequencer),
        arrivals_(arrivals),
        counters_(counters) {}

  RuleInfo info_of(const DeployedRule& rule) const;
  RuleCounters counters_of(const DeployedRule& rule) const;
  /// Some of the types, from number `first` on: those that rules read by name, then those that only
  /// came, then one for what was late of these.
  std::vector<TypeInfo> types(std::size_t first, std::size_t count) const;
  std::size_t type_count() const;

 private:
  TypeInfo info_of(const std::string& name, TypeId type) const;
  /// How many events have come of a type that is read by joint types only: those that were
  /// published, and composites of the rules in force, or what a table of the type has got.
  std::uint64_t seen_by_joints(TypeId type) const;
  /// What has come of a type that rules read, and what they miss.
  void add_arrivals(TypeInfo& info, TypeId type) const;
  /// The types that have come and that no rule reads, by name.
  std::vector<TypeInfo> unread_types() const;
  /// Counts late events of the types that no rule reads.
  TypeInfo other_types() const;

  const RuleSet& rules_;
  const history::History& history_;
  const Sequencer& sequencer_;
  const Arrivals& arrivals_;
  const ProcessorCounters& counters_;
};

}  // namespace gorgo::dispatch
