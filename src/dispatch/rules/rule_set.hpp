#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <boost/container/small_vector.hpp>
#include <boost/unordered/unordered_flat_map.hpp>

#include "dispatch/rules/coming_rules.hpp"
#include "dispatch/rules/deployed_rule.hpp"
#include "dispatch/rules/kept_types.hpp"
#include "dispatch/rules/rule_base.hpp"
#include "gorgo/diagnostics.hpp"
#include "gorgo/processor.hpp"
#include "gorgo/schema.hpp"
#include "history/history.hpp"
#include "plan/plan.hpp"
#include "plan/stratification.hpp"

namespace gorgo::dispatch {

/// The deployed rules in rule order, the schema they share, and the strata they form. Changes as a
/// whole or not at all, and keeps the history's types and columns in step.
///
/// The number of a rule says its place in the list. A removed rule leaves its place empty until
/// many places are, so that the numbers of the others stay. What a change costs depends on the
/// rules that come and go, not on those that are there.
class RuleSet {
 public:
  /// `max_late`: how far behind the clock terminators may be, in nanoseconds.
  RuleSet(std::string default_engine, Duration max_late);

  /// What texts are checked against.
  const RuleBase& base() const { return base_; }
  /// Puts the rules of a checked text in force, unless it has errors, and returns what there is to
  /// say about it. Where the base has changed since the check, the text is checked again. New rules
  /// do not look behind `clock`, the largest released timestamp; with history, they look behind it
  /// as far as all the types that they read were kept.
  Diagnostics deploy(const std::shared_ptr<CheckedText>& checked, std::optional<Timestamp> clock,
                     history::History& history);
  /// Does some of what `deploy` has to do for the text, see ComingRules. Returns whether only that
  /// is left which cannot be done before; else the time is over. Other calls may come in between;
  /// one that changes rules or types gives up what was done.
  bool get_ready(const std::shared_ptr<CheckedText>& checked, ComingRules::Time until,
                 history::History& history);
  void give_up() { coming_ = nullptr; }
  bool is_getting_ready() const { return coming_ != nullptr; }
  /// The rule of this full name, or an error that names close ones. Valid until the next change.
  Result<const DeployedRule*> at(std::string_view rule) const;
  bool has(std::string_view rule) const { return find(rule) != nullptr; }
  Result<void> remove(std::string_view rule, history::History& history);
  Result<void> declare(const std::string& name, std::vector<AttributeType> attributes);

  /// A rule in force as it was before the program ended. Without a plan it stands for the empty
  /// place of a rule that was removed.
  struct Saved {
    std::shared_ptr<const plan::Plan> plan;
    std::shared_ptr<const RuleText> text;
    std::uint64_t serial = 0;
    std::string engine;  ///< the one that it is pinned to, or `kAutomatic`
    history::Slot first_terminator = 0;
    std::uint64_t events_before = 0;
  };
  /// Puts rules in force as they were, by number, but for their state. The history keeps the types
  /// that they read, whose events come later. Precondition: there was no rule yet.
  void restore(Schema schema, std::vector<Saved> rules, std::uint64_t serials,
               history::History& history);
  /// Checks a text as if these types were known and none of the rules in force.
  CheckedText check_again(const RuleText& text, const Schema& schema) const;

  const Schema& schema() const { return base_.schema; }
  /// How many rules were ever deployed.
  std::uint64_t serials() const { return serials_; }
  /// Every number is below.
  std::size_t numbers() const { return rules_.size(); }
  /// The rule of this number, which may be the empty place of a removed one.
  const DeployedRule& rule(std::uint32_t number) const { return *rules_[number]; }
  /// Fetches the rule, and then what it refers to and every evaluation reads; hints.
  void prefetch(std::uint32_t number) const { rules_[number]->prefetch(); }
  void prefetch_parts(std::uint32_t number) const { rules_[number]->prefetch_parts(); }
  /// The number of the rule with this serial; unset: it has gone.
  std::optional<std::uint32_t> number_of(std::uint64_t serial) const;
  /// The state of the rule, which evaluation changes.
  engine::RuleState& state(std::uint32_t number) { return rules_[number]->state; }
  /// Where the rule runs and what that costs, which placement changes.
  Placement& placement(std::uint32_t number) { return rules_[number]->placement; }
  /// How long the rule has run of late, which its evaluations add to.
  Throttle& throttle(std::uint32_t number) { return rules_[number]->throttle; }
  /// How many rules are in force.
  std::size_t size() const { return in_force_.size(); }
  /// Calls `f(rule)` for at most `count` rules in force, in rule order, from the `first` one on.
  template <class F>
  void for_each(std::size_t first, std::size_t count, F&& f) const;

  /// Has the rule run on this engine, or, with "auto", where it costs least. Changes only where and
  /// when the rule is evaluated. An error: there is no such rule or engine, or the engine cannot
  /// evaluate the rule.
  Result<void> pin(std::string_view rule, std::string_view engine, history::History& history);
  /// Changes when a rule goes, is pinned or gets another number; not when one comes.
  std::uint64_t generation() const { return generation_; }

  /// Full names, by number.
  std::span<const std::string> names() const { return names_; }
  /// What they execute, as `webhook("ops")`, by number.
  std::span<const std::vector<std::string>> actions() const { return actions_; }

  /// The rules that have a timer or a deadline, ascending, as all lists of rules here.
  std::span<const std::uint32_t> temporal_rules() const { return temporal_rules_; }

  std::span<const std::uint32_t> consuming_rules() const { return consuming_rules_; }
  /// Those with `@at_most`.
  std::span<const std::uint32_t> limited_rules() const { return limited_rules_; }
  /// Has the rules with `@panes` that are about this type add its events from the slot `first` on.
  /// Threads may do so at the same time for different types.
  void add_to_panes(TypeId type, const history::EventStore& store, history::Slot first);
  /// Has them forget what no later instant of their timers needs.
  void forget_panes(Timestamp clock);
  /// How far behind the clock a rule with `@panes` looks back at events of the type; 0: none does.
  Duration reach_of_panes(TypeId type) const;
  /// How far behind the clock terminators may be.
  Duration max_late() const { return max_late_; }

  /// A type's events are complete when every rule of a lower level has run. A rule that closes a
  /// cycle runs root by root, with the others of its cycle.
  const plan::Stratification& strata() const { return strata_; }
  /// The rules whose terminators are the events of a column.
  std::span<const std::uint32_t> rules_of(history::ColumnId column) const {
    if (column >= rules_of_.size()) return {};
    return rules_of_[column];
  }
  /// What they read, and what the history keeps for them.
  const KeptTypes& types() const { return types_; }
  /// Has tables let go of rows that were replaced, and that no rule can read any more.
  void tidy_tables(Timestamp clock, history::History& history);

 private:
  using Numbers = std::vector<std::uint32_t>;
  using RulePtr = std::unique_ptr<DeployedRule>;
  /// What a change has touched.
  struct Change {
    std::vector<RulePtr> gone;
    std::set<TypeId> types;  ///< types that rules which come or go read
    Numbers added;
  };

  const std::uint32_t* find(std::string_view rule) const;
  Numbers install(ComingRules& coming, std::optional<Timestamp> clock, history::History& history);
  void put(RulePtr rule, bool replace, const history::History& history, Change& change);
  static void fill_panes(DeployedRule& rule, const history::History& history);
  void enter(std::uint32_t number, const history::History& history);
  RulePtr exchange(std::uint32_t number, RulePtr next, Change& change);
  void note(std::uint32_t number);
  void note_panes(const plan::Plan& plan, std::uint32_t number, bool here);
  void count(const Reads& reads, Change& change);
  void settle(Change& change, history::History& history);
  void keep_tables(history::History& history);
  void tidy(TypeId table, Timestamp clock, history::History& history);
  void take_moved_rows(TypeId table, const history::History::Moved& moved,
                       history::History& history);
  void close_gaps();
  Diagnostics cycle_warnings(const CheckedText& checked, const Numbers& added) const;
  std::string_view close_to(std::string_view name) const;
  std::optional<Timestamp> horizon(const plan::Plan& plan, std::optional<Timestamp> clock,
                                   const history::History& history) const;

  Duration max_late_;
  RuleBase base_;
  std::vector<RulePtr> rules_;  // by number; none is null
  std::vector<std::string> names_;
  std::vector<std::vector<std::string>> actions_;
  std::map<std::string, std::uint32_t, std::less<>> numbers_;                   // by full name
  boost::unordered_flat_map<std::uint64_t, std::uint32_t> numbers_of_serials_;  // of rules in force
  Numbers in_force_;
  Numbers temporal_rules_;
  Numbers consuming_rules_;
  Numbers limited_rules_;
  Numbers pane_rules_;                  // those with `@panes`
  std::vector<Numbers> pane_rules_of_;  // by TypeId that they sum up
  /// Most columns are of one rule, which is then found without another cache miss.
  std::vector<boost::container::small_vector<std::uint32_t, 2>> rules_of_;  // by ColumnId
  KeptTypes types_;
  plan::Stratification strata_;
  std::uint64_t generation_ = 0;
  std::uint64_t serials_ = 0;
  std::unique_ptr<ComingRules> coming_;
};

template <class F>
void RuleSet::for_each(std::size_t first, std::size_t count, F&& f) const {
  const std::span<const std::uint32_t> all = in_force_;
  const auto from = all.subspan(std::min(first, all.size()));
  for (const std::uint32_t number : from.first(std::min(count, from.size()))) f(*rules_[number]);
}

}  // namespace gorgo::dispatch
