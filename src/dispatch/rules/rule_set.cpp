#include "dispatch/rules/rule_set.hpp"

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

#include "base/arithmetic.hpp"
#include "base/sorted_numbers.hpp"
#include "codec/names.hpp"
#include "language/names.hpp"
#include "language/reporter.hpp"
#include "plan/warnings.hpp"

namespace gorgo::dispatch {
namespace {

/// Why no event of a type that is declared so could be published.
std::optional<Error> problem_of_declaration(std::string_view name,
                                            std::span<const AttributeType> attributes) {
  if (auto problem = codec::problem_of_name(name, "a type")) return problem;
  if (auto problem = codec::problem_of_attribute_count(name, attributes.size())) return problem;
  std::set<std::string_view> names;
  for (const AttributeType& attribute : attributes) {
    if (auto problem = codec::problem_of_attribute_name(attribute.name)) return problem;
    if (names.insert(attribute.name).second) continue;
    return Error{"attribute " + language::in_quotes(attribute.name) + " of type " +
                     language::in_quotes(name) + " is listed twice",
                 "attributes of one type have different names"};
  }
  return std::nullopt;
}

std::vector<std::string> texts_of(const std::vector<Action>& actions) {
  std::vector<std::string> texts;
  for (const Action& action : actions) texts.push_back(action.text());
  return texts;
}

std::unique_ptr<DeployedRule> empty_place() {
  return std::make_unique<DeployedRule>(nullptr, nullptr,
                                        Placement(engine::engines().front(), false));
}

/// The engine that it was pinned to may belong to a device that this machine lacks, or may be that
/// of another build; results do not depend on it.
Placement placement_of(const RuleSet::Saved& saved) {
  const engine::Engine* engine = engine::find_engine(saved.engine);
  if (engine == nullptr) return {engine::engines().front(), true};
  return {engine, false};
}

std::unique_ptr<DeployedRule> restored(const RuleSet::Saved& saved) {
  auto rule = std::make_unique<DeployedRule>(saved.plan, saved.text, placement_of(saved));
  rule->serial = saved.serial;
  return rule;
}

}  // namespace

RuleSet::RuleSet(std::string default_engine, Duration max_late)
    : max_late_(max_late), types_(max_late) {
  base_.default_engine = std::move(default_engine);
}

const std::uint32_t* RuleSet::find(std::string_view rule) const {
  const auto found = numbers_.find(rule);
  return found == numbers_.end() ? nullptr : &found->second;
}

std::optional<std::uint32_t> RuleSet::number_of(std::uint64_t serial) const {
  const auto found = numbers_of_serials_.find(serial);
  if (found == numbers_of_serials_.end()) return std::nullopt;
  return found->second;
}

bool RuleSet::get_ready(const std::shared_ptr<CheckedText>& checked, ComingRules::Time until,
                        history::History& history) {
  if (checked->diagnostics.failed() || checked->version != base_.version) return true;
  try {
    if (coming_ == nullptr || !coming_->are_of(*checked)) {
      coming_ = nullptr;
      coming_ = std::make_unique<ComingRules>(checked, history);
      numbers_of_serials_.reserve(numbers_of_serials_.size() + checked->plans.size());
    }
    return coming_->go_on(until);
  } catch (...) {
    coming_ = nullptr;
    throw;
  }
}

Diagnostics RuleSet::deploy(const std::shared_ptr<CheckedText>& checked,
                            std::optional<Timestamp> clock, history::History& history) {
  if (checked->version != base_.version) {
    coming_ = nullptr;
    *checked = check_text(base_, std::move(checked->source), checked->options);
  }
  Diagnostics diagnostics = std::move(checked->diagnostics);
  if (diagnostics.failed()) return diagnostics;
  while (!get_ready(checked, ComingRules::Time::max(), history)) continue;
  const auto coming = std::move(coming_);
  const Numbers added = install(*coming, clock, history);
  std::ranges::move(cycle_warnings(*checked, added).list, std::back_inserter(diagnostics.list));
  return diagnostics;
}

/// Returns the numbers of the new rules.
RuleSet::Numbers RuleSet::install(ComingRules& coming, std::optional<Timestamp> clock,
                                  history::History& history) {
  CheckedText& checked = coming.text();
  Change change;
  checked.next.version = base_.version;
  base_ = std::move(checked.next);
  count(checked.reads, change);
  constexpr std::size_t kAhead = 16;  // rules whose cache misses overlap
  const auto rules = std::span(coming.rules());
  for (std::size_t i = 0; i < rules.size(); ++i) {
    if (i + kAhead < rules.size()) rules[i + kAhead]->plan->prefetch();
    rules[i]->state.deployed_at =
        checked.options.with_history ? horizon(*rules[i]->plan, clock, history) : clock;
    put(std::move(rules[i]), checked.options.replace, history, change);
    if (checked.options.with_history) fill_panes(*rules_[change.added.back()], history);
  }
  for (auto hint = numbers_.end(); !coming.names().empty(); ++hint) {
    auto name = coming.names().extract(coming.names().begin());
    name.mapped() = change.added[name.mapped()];
    hint = numbers_.insert(hint, std::move(name));
  }
  settle(change, history);
  return std::move(change.added);
}

/// Gives the rule the number of the one that it replaces, if it may, or the next one.
void RuleSet::put(RulePtr rule, bool replace, const history::History& history, Change& change) {
  const auto* replaced = replace ? find(rule->rule().name) : nullptr;
  const auto number = replaced != nullptr ? *replaced : static_cast<std::uint32_t>(rules_.size());
  rule->serial = ++serials_;
  std::string name = rule->rule().name;
  auto actions = texts_of(rule->rule().actions);
  if (replaced != nullptr) {
    change.gone.push_back(exchange(number, std::move(rule), change));
    names_[number] = std::move(name);
    actions_[number] = std::move(actions);
  } else {
    rules_.push_back(std::move(rule));
    names_.push_back(std::move(name));
    actions_.push_back(std::move(actions));
  }
  enter(number, history);
  change.added.push_back(number);
}

/// Gives the rule what is remembered of the events that it sums up.
void RuleSet::fill_panes(DeployedRule& rule, const history::History& history) {
  if (!rule.plan->panes) return;
  for (const auto& [type, reach] : rule.plan->reach) {
    const history::EventStore& store = history.store(type);
    rule.add_to_panes(type, store, store.begin());
  }
}

/// Enters a rule that stands in its place.
void RuleSet::enter(std::uint32_t number, const history::History& history) {
  DeployedRule& rule = *rules_[number];
  numbers_of_serials_.emplace(rule.serial, number);
  note(number);
  rule.first_terminator = rule.terminators->store().end();
  for (const auto& [type, reach] : rule.plan->reach) {
    rule.events_before += history.store(type).count();
  }
  if (rule.terminator_column >= rules_of_.size()) rules_of_.resize(rule.terminator_column + 1);
  hold(rules_of_[rule.terminator_column], number, true);
}

void RuleSet::restore(Schema schema, std::vector<Saved> rules, std::uint64_t serials,
                      history::History& history) {
  assert(rules_.empty());
  Change change;
  base_.schema = std::move(schema);
  serials_ = serials;
  for (const Saved& saved : rules) {
    const auto number = static_cast<std::uint32_t>(rules_.size());
    rules_.push_back(saved.plan == nullptr ? empty_place() : restored(saved));
    names_.push_back(saved.plan == nullptr ? std::string() : saved.plan->rule.name);
    actions_.push_back(saved.plan == nullptr ? std::vector<std::string>()
                                             : texts_of(saved.plan->rule.actions));
    if (saved.plan == nullptr) continue;
    base_.add(saved.plan);
    numbers_.emplace(saved.plan->rule.name, number);
    Reads reads;
    add_reads(*saved.plan, reads);
    count(reads, change);
    change.added.push_back(number);
  }
  keep_tables(history);
  types_.keep(change.types, base_.schema, history);
  history.together([&] {
    for (const std::uint32_t number : change.added) equip(*rules_[number], history);
  });
  for (const std::uint32_t number : change.added) enter(number, history);
  settle(change, history);
  for (const std::uint32_t number : in_force_) {
    rules_[number]->first_terminator = rules[number].first_terminator;
    rules_[number]->events_before = rules[number].events_before;
  }
}

CheckedText RuleSet::check_again(const RuleText& text, const Schema& schema) const {
  RuleBase base;
  base.default_engine = base_.default_engine;
  base.schema = schema;
  DeployOptions options = text.options;
  options.replace = false;
  options.actions = nullptr;
  return check_text(base, text.source, options);
}

/// Takes a rule out of everything but the base, the names, the history, and the lists that `note`
/// keeps. `next` stands in its place.
RuleSet::RulePtr RuleSet::exchange(std::uint32_t number, RulePtr next, Change& change) {
  RulePtr gone = std::exchange(rules_[number], std::move(next));
  const DeployedRule& there = *rules_[number];
  strata_.remove(number, there.plan.get());
  const bool has_same_column =
      !there.is_removed() && there.terminator_column == gone->terminator_column;
  if (gone->terminators && !has_same_column) {
    hold(rules_of_[gone->terminator_column], number, false);
  }
  if (gone->plan->panes) note_panes(*gone->plan, number, false);
  numbers_of_serials_.erase(gone->serial);
  names_[number].clear();
  actions_[number].clear();
  Reads reads;
  add_reads(*gone->plan, reads);
  for (const auto& [type, less] : reads) {
    types_.subtract(type, less);
    change.types.insert(type);
  }
  return gone;
}

/// Enters what stands in a place where its number counts, and takes the number from elsewhere.
void RuleSet::note(std::uint32_t number) {
  const DeployedRule& rule = *rules_[number];
  const bool here = !rule.is_removed();
  if (here) strata_.add(number, *rule.plan);
  hold(in_force_, number, here);
  hold(temporal_rules_, number, here && (rule.rule().timer || rule.plan->deadline));
  hold(consuming_rules_, number, here && !rule.rule().consuming.empty());
  hold(limited_rules_, number, here && rule.rule().at_most.has_value());
  if (here && rule.plan->panes) note_panes(*rule.plan, number, true);
}

void RuleSet::note_panes(const plan::Plan& plan, std::uint32_t number, bool here) {
  hold(pane_rules_, number, here);
  for (std::size_t i = 0; i < plan.aggregates.size(); ++i) {
    if (plan.aggregates[i].panes == 0) continue;
    const TypeId type = plan.rule.aggregates[i].predicate.type;
    if (type >= pane_rules_of_.size()) pane_rules_of_.resize(type + 1);
    hold(pane_rules_of_[type], number, here);
  }
}

void RuleSet::add_to_panes(TypeId type, const history::EventStore& store, history::Slot first) {
  if (type >= pane_rules_of_.size()) return;
  for (const std::uint32_t number : pane_rules_of_[type]) {
    rules_[number]->add_to_panes(type, store, first);
  }
}

void RuleSet::forget_panes(Timestamp clock) {
  for (const std::uint32_t number : pane_rules_) rules_[number]->forget_panes(clock);
}

Duration RuleSet::reach_of_panes(TypeId type) const {
  Duration reach = 0;
  if (type >= pane_rules_of_.size()) return reach;
  for (const std::uint32_t number : pane_rules_of_[type]) {
    const plan::Plan& plan = *rules_[number]->plan;
    for (std::size_t i = 0; i < plan.aggregates.size(); ++i) {
      const Aggregate& aggregate = plan.rule.aggregates[i];
      if (plan.aggregates[i].panes == 0 || aggregate.predicate.type != type) continue;
      reach = std::max(reach, aggregate.span.width);
    }
  }
  return reach;
}

void RuleSet::count(const Reads& reads, Change& change) {
  for (const auto& [type, more] : reads) {
    types_.add(type, more);
    change.types.insert(type);
  }
}

/// Brings strata and history in step with the rules.
void RuleSet::settle(Change& change, history::History& history) {
  ++base_.version;
  keep_tables(history);
  strata_.update();
  types_.keep(change.types, schema(), history);
  if (!change.gone.empty()) ++generation_;
  change.gone.clear();  // lets go of columns
  types_.forget(change.types, history);
}

/// Keeps the rows of tables that were declared since the last time.
void RuleSet::keep_tables(history::History& history) {
  for (const TypeId table : types_.keep_tables(schema(), history)) {
    strata_.add_table(table, schema().at(table).members.front().type);
  }
}

void RuleSet::tidy_tables(Timestamp clock, history::History& history) {
  for (const TypeId table : types_.tables()) {
    const bool is_awaited = coming_ != nullptr && coming_->read(table);
    if (!is_awaited && history.is_untidy(table)) tidy(table, clock, history);
  }
}

/// Evaluators of rules that read the table know rows by their slots, so they are made anew.
void RuleSet::tidy(TypeId table, Timestamp clock, history::History& history) {
  std::map<std::uint32_t, std::vector<const engine::Engine*>> readers;
  for (const std::uint32_t number : in_force_) {
    if (!rules_[number]->plan->reach.contains(table)) continue;
    readers.emplace(number, rules_[number]->placement.withdraw_all());
  }
  const auto moved = history.tidy(table, schema().at(table).key,
                                  arithmetic::saturating_subtract(clock, types_.reach_of(table)));
  take_moved_rows(table, moved, history);
  history.together([&] {
    for (const auto& [number, engines] : readers) {
      const DeployedRule& rule = *rules_[number];
      for (const engine::Engine* const engine : engines) {
        rules_[number]->placement.at(*engine).evaluators.push_back(
            engine->prepare(rule.plan, history));
      }
    }
  });
  ++generation_;
}

/// Composites that wait for their deadlines refer to rows by their slots.
void RuleSet::take_moved_rows(TypeId table, const history::History::Moved& moved,
                              history::History& history) {
  const history::EventStore* const store = &history.store(table);
  for (const std::uint32_t number : temporal_rules_) {
    for (auto& [deadline, pending] : rules_[number]->state.own_timed().pending) {
      for (history::EventRef& event : pending.events) {
        if (event.store == store) event.slot = moved.at(event.slot);
      }
    }
  }
}

Diagnostics RuleSet::cycle_warnings(const CheckedText& checked, const Numbers& added) const {
  std::set<std::uint32_t> concerned;
  for (const std::uint32_t number : added) {
    if (strata_.closes_cycle(number))
      concerned.insert(strata_.cycle_of(rules_[number]->rule().type));
  }
  if (concerned.empty()) return {};
  std::vector<std::vector<const plan::Plan*>> cycles;
  for (const std::uint32_t cycle : concerned) {
    auto& plans = cycles.emplace_back();
    for (const std::uint32_t number : strata_.cycles()[cycle].rules) {
      plans.push_back(rules_[number]->plan.get());
    }
  }
  std::vector<const plan::Plan*> plans;
  for (const auto& plan : checked.plans) plans.push_back(plan.get());
  return plan::cycle_warnings(plans, cycles, schema(), checked.source);
}

std::optional<Timestamp> RuleSet::horizon(const plan::Plan& plan, std::optional<Timestamp> clock,
                                          const history::History& history) const {
  if (!clock) return clock;
  Duration kept = std::numeric_limits<Duration>::max();
  for (const auto& [type, reach] : plan.reach) {
    if (type != plan.rule.states[0].predicate.type || reach > 0) {
      kept = std::min(kept, history.reach(type));
    }
  }
  return arithmetic::saturating_subtract(*clock, kept);
}

/// A name near this one in the order of the alphabet, where slips are likely to be; "" if none is.
std::string_view RuleSet::close_to(std::string_view name) const {
  constexpr int kMostNames = 500;  // names on each side
  const auto place = numbers_.lower_bound(name);
  std::vector<std::string> names;
  auto before = place;
  for (int i = 0; i < kMostNames && before != numbers_.begin(); ++i)
    names.push_back((--before)->first);
  auto behind = place;
  for (int i = 0; i < kMostNames && behind != numbers_.end(); ++i)
    names.push_back((behind++)->first);
  const std::string_view close = closest_name(name, names);
  return close.empty() ? close : std::string_view(numbers_.find(close)->first);
}

Result<const DeployedRule*> RuleSet::at(std::string_view rule) const {
  if (const auto* number = find(rule)) return rules_[*number].get();
  const std::string last_part = "." + std::string(rule);
  const auto qualified = std::ranges::find_if(
      names_, [&](const std::string& name) { return name.ends_with(last_part); });
  const std::string_view close =
      qualified != names_.end() ? std::string_view(*qualified) : close_to(rule);
  return Error{"there is no rule " + language::in_quotes(rule),
               close.empty() ? "`gorgo rules list` shows the deployed rules"
                             : "did you mean " + language::in_quotes(close) + "?"};
}

Result<void> RuleSet::pin(std::string_view name, std::string_view engine,
                          history::History& history) {
  if (const auto found = at(name); !found) return found.error();
  if (auto problem = problem_of_engine(engine)) return *problem;
  DeployedRule& rule = *rules_[*find(name)];
  if (engine == kAutomatic) {
    rule.placement.set_automatic(true);
    return {};
  }
  const engine::Engine& wanted = *engine::find_engine(engine);
  if (const auto reason = wanted.reason_to_decline(*rule.plan); !reason.empty()) {
    return Error{language::in_quotes(engine) + " cannot evaluate rule " + language::in_quotes(name),
                 reason};
  }
  EngineEntry& entry = rule.placement.at(wanted);
  if (entry.evaluators.empty()) entry.evaluators.push_back(wanted.prepare(rule.plan, history));
  rule.placement.move_to(wanted, "pinned");
  rule.placement.set_automatic(false);
  rule.placement.withdraw_others();
  ++generation_;
  for (const auto& [type, reach] : rule.plan->reach) history.release_columns(type);
  return {};
}

Result<void> RuleSet::remove(std::string_view rule, history::History& history) {
  if (const auto found = at(rule); !found) return found.error();
  coming_ = nullptr;
  Change change;
  const std::uint32_t number = *find(rule);
  change.gone.push_back(exchange(number, empty_place(), change));
  note(number);
  const plan::Plan& gone = *change.gone.front()->plan;
  base_.remove(gone);
  numbers_.erase(gone.rule.name);
  for (const TypeId type : types_of(gone)) {
    const EventType& known = schema().at(type);
    if (base_.uses_of(type) == 0 && goes_with_its_rules(known)) base_.schema.remove(known.name);
  }
  settle(change, history);
  close_gaps();
  return {};
}

/// Moves the rules up when most places are empty: so many rules were removed that looking at all
/// of them is paid for.
void RuleSet::close_gaps() {
  constexpr std::size_t kFew = 64;
  if (rules_.size() <= kFew + 2 * size()) return;
  actions_.clear();
  std::erase_if(rules_, [](const RulePtr& rule) { return rule->is_removed(); });
  for (const RulePtr& rule : rules_) actions_.push_back(texts_of(rule->rule().actions));
  std::erase_if(names_, [](const std::string& name) { return name.empty(); });
  in_force_.clear();
  temporal_rules_.clear();
  consuming_rules_.clear();
  limited_rules_.clear();
  pane_rules_.clear();
  for (auto& rules : pane_rules_of_) rules.clear();
  for (auto& rules : rules_of_) rules.clear();
  strata_ = {};
  for (const TypeId table : types_.tables()) {
    strata_.add_table(table, schema().at(table).members.front().type);
  }
  for (std::uint32_t number = 0; number < rules_.size(); ++number) {
    numbers_.find(names_[number])->second = number;
    numbers_of_serials_[rules_[number]->serial] = number;
    note(number);
    rules_of_[rules_[number]->terminator_column].push_back(number);
  }
  strata_.update();
  ++generation_;
}

Result<void> RuleSet::declare(const std::string& name, std::vector<AttributeType> attributes) {
  if (auto problem = problem_of_declaration(name, attributes)) return *problem;
  EventType type{.name = name, .attributes = std::move(attributes)};
  const EventType* const known = schema().find(name);
  if (known != nullptr && known->attributes != type.attributes) {
    return Error{"type " + language::in_quotes(name) + " is known with other attributes",
                 declaration_of(*known)};
  }
  if (known == nullptr) {
    base_.schema.add(std::move(type));
  } else if (known->origin == TypeOrigin::inferred) {
    base_.schema.set_origin(known->id, TypeOrigin::declared);
  } else {
    return {};
  }
  ++base_.version;
  return {};
}

}  // namespace gorgo::dispatch
