#include "dispatch/rule_set.hpp"

#include <algorithm>
#include <limits>
#include <set>

#include "base/arithmetic.hpp"
#include "codec/names.hpp"
#include "language/language.hpp"
#include "language/names.hpp"
#include "language/reporter.hpp"
#include "plan/warnings.hpp"

namespace gorgo::dispatch {
namespace {

/// Forgets the types that stand for nothing but rules which are not in `kept`.
void forget_unused_types(Schema& schema, std::span<const plan::Plan* const> kept) {
  std::set<TypeId> used;
  for (const plan::Plan* plan : kept) {
    used.insert(plan->rule.type);
    for (const auto& [type, reach] : plan->reach) used.insert(type);
  }
  for (const std::string& name : schema.names()) {
    const EventType& type = *schema.find(name);
    if (type.origin != TypeOrigin::declared && !used.contains(type.id)) schema.remove(name);
  }
}

void append(Diagnostics& to, Diagnostics from) {
  std::move(from.list.begin(), from.list.end(), std::back_inserter(to.list));
}

const std::string& engine_name_of(const Rule& rule, const std::string& default_engine) {
  return rule.options.engine.empty() ? default_engine : rule.options.engine;
}

std::optional<Error> problem_of_engine(std::string_view name) {
  const auto names = engine_names();
  if (std::ranges::find(names, name) != names.end()) return std::nullopt;
  return Error{"there is no engine " + language::in_quotes(name),
               "the engines are " + language::listing(names, "and")};
}

void check_engine(const Rule& rule, const std::string& default_engine,
                  language::Reporter& reporter) {
  const auto problem = problem_of_engine(engine_name_of(rule, default_engine));
  if (problem) reporter.error(rule.at, problem->message, problem->hint);
}

/// Why no event could be published of a type that is declared so.
std::optional<Error> problem_of_declaration(std::string_view name,
                                            std::span<const AttributeType> attributes) {
  if (auto problem = codec::problem_of_name(name, "a type")) return problem;
  if (attributes.size() > codec::kMostAttributes) {
    return Error{"type " + language::in_quotes(name) + " has " + std::to_string(attributes.size()) +
                     " attributes",
                 "a type has at most " + std::to_string(codec::kMostAttributes)};
  }
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

Placement placement_of(const Rule& rule, const std::string& default_engine) {
  const std::string& name = engine_name_of(rule, default_engine);
  if (name == kAutomatic) return {engine::engines().front(), true};
  return {engine::find_engine(name), false};
}

}  // namespace

std::size_t RuleSet::find(std::string_view rule) const {
  const auto place = places_.find(rule);
  return place == places_.end() ? rules_.size() : place->second;
}

Diagnostics RuleSet::deploy(const std::string& name, const std::string& text,
                            const DeployOptions& options, std::optional<Timestamp> clock,
                            history::History& history) {
  const language::Source source{name, text};
  language::ParsedFile parsed = language::parse(source);
  if (parsed.diagnostics.failed()) return parsed.diagnostics;

  // Everything is checked on copies; the set changes only after the last check.
  const auto in_file = language::rule_names(parsed.file, source);
  const std::set<std::string, std::less<>> names(in_file.begin(), in_file.end());
  const auto is_replaced = [&](const DeployedRule& r) {
    return options.replace && names.contains(r.rule().name);
  };
  std::vector<const plan::Plan*> plans;
  for (const auto& rule : rules_) {
    if (!is_replaced(rule)) plans.push_back(rule.plan.get());
  }
  Schema known = schema_;
  if (options.replace) forget_unused_types(known, plans);
  language::BoundFile bound = language::bind(parsed.file, known, source);
  Diagnostics diagnostics = std::move(parsed.diagnostics);
  append(diagnostics, std::move(bound.diagnostics));
  if (diagnostics.failed()) return diagnostics;

  language::Reporter reporter(source.path, source.text);
  std::vector<std::shared_ptr<const plan::Plan>> added;
  for (Rule& rule : bound.rules) {
    if (!options.replace && find(rule.name) < rules_.size()) {
      reporter.error(rule.at, "a rule " + language::in_quotes(rule.name) + " is deployed already",
                     "deploy with replacement, or remove it first");
    }
    check_engine(rule, default_engine_, reporter);
    added.push_back(std::make_shared<plan::Plan>(plan::make_plan(std::move(rule))));
  }
  append(diagnostics, reporter.take());
  if (diagnostics.failed()) return diagnostics;
  std::vector<const plan::Plan*> added_plans;
  for (const auto& plan : added) added_plans.push_back(plan.get());
  append(diagnostics, plan::warnings(added_plans, plans, bound.schema, source));

  schema_ = std::move(bound.schema);
  const std::size_t before = rules_.size();
  rules_.reserve(before + added.size());
  for (auto& plan : added) {
    const std::size_t place = find(plan->rule.name);
    DeployedRule rule{.plan = plan,
                      .placement = placement_of(plan->rule, default_engine_),
                      .state = engine::RuleState(plan->rule),
                      .throttle = {},
                      .terminators = nullptr};
    rule.state.deployed_at = options.with_history ? horizon(*plan, clock, history) : clock;
    if (place < before) {
      rules_[place] = std::move(rule);
    } else {
      rules_.push_back(std::move(rule));
    }
  }
  settle(history);
  return diagnostics;
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

Result<const DeployedRule*> RuleSet::at(std::string_view rule) const {
  const std::size_t place = find(rule);
  if (place < rules_.size()) return &rules_[place];
  std::vector<std::string> names;
  for (const auto& r : rules_) names.push_back(r.rule().name);
  const std::string last_part = "." + std::string(rule);
  const auto qualified = std::ranges::find_if(
      names, [&](const std::string& name) { return name.ends_with(last_part); });
  const std::string_view close =
      qualified != names.end() ? std::string_view(*qualified) : closest_name(rule, names);
  return Error{"there is no rule " + language::in_quotes(rule),
               close.empty() ? "`gorgo rules list` shows the deployed rules"
                             : "did you mean " + language::in_quotes(close) + "?"};
}

Result<void> RuleSet::pin(std::string_view name, std::string_view engine,
                          history::History& history) {
  if (const auto found = at(name); !found) return found.error();
  if (auto problem = problem_of_engine(engine)) return *problem;
  DeployedRule& rule = rules_[find(name)];
  if (engine == kAutomatic) {
    rule.placement.set_automatic(true);
    return {};
  }
  const engine::Engine& wanted = *engine::find_engine(engine);
  if (const auto reason = wanted.declined(*rule.plan); !reason.empty()) {
    return Error{language::in_quotes(engine) + " cannot evaluate rule " + language::in_quotes(name),
                 reason};
  }
  Post& post = rule.placement.at(wanted);
  if (post.evaluators.empty()) post.evaluators.push_back(wanted.prepare(rule.plan, history));
  rule.placement.move_to(wanted, "pinned");
  rule.placement.set_automatic(false);
  rule.placement.withdraw_others();
  ++generation_;
  history.trim();
  return {};
}

Result<void> RuleSet::remove(std::string_view rule, history::History& history) {
  if (const auto found = at(rule); !found) return found.error();
  rules_.erase(rules_.begin() + static_cast<std::ptrdiff_t>(find(rule)));
  std::vector<const plan::Plan*> plans;
  for (const auto& r : rules_) plans.push_back(r.plan.get());
  forget_unused_types(schema_, plans);
  settle(history);
  return {};
}

Result<void> RuleSet::declare(const std::string& name, std::vector<AttributeType> attributes) {
  if (auto problem = problem_of_declaration(name, attributes)) return *problem;
  EventType type{.name = name, .attributes = std::move(attributes)};
  const EventType* const known = schema_.find(name);
  if (known != nullptr && known->attributes != type.attributes) {
    return Error{"type " + language::in_quotes(name) + " is known with other attributes",
                 declaration_of(*known)};
  }
  if (known != nullptr) {
    if (known->origin == TypeOrigin::inferred) schema_.set_origin(known->id, TypeOrigin::declared);
    return {};
  }
  schema_.add(std::move(type));
  types_.resize(schema_.size());
  return {};
}

/// Brings strata, history and evaluators in step with the rules.
void RuleSet::settle(history::History& history) {
  std::vector<const plan::Plan*> plans;
  std::map<TypeId, Duration> reach;
  for (auto& rule : rules_) {
    rule.closes_cycle = false;
    plans.push_back(rule.plan.get());
    for (const auto& [type, duration] : rule.plan->reach) {
      reach[type] = std::max(reach[type], arithmetic::saturating_add(duration, max_late_));
    }
  }
  history.retain(schema_, reach);

  plan::Strata strata = plan::stratify(plans, schema_.size());
  types_.assign(schema_.size(), {});
  for (TypeId type = 0; type < types_.size(); ++type) types_[type].level = strata.types[type];
  for (const plan::Cycle& cycle : strata.cycles) {
    for (const TypeId type : cycle.types) types_[type].in_cycle = true;
    for (const std::uint32_t rule : cycle.rules) rules_[rule].closes_cycle = true;
  }
  cycles_ = std::move(strata.cycles);
  levels_ = 1;
  ++generation_;
  names_.clear();
  places_.clear();
  temporal_rules_.clear();
  consuming_rules_.clear();
  for (auto& rules : rules_of_) rules.clear();
  for (std::uint32_t i = 0; i < rules_.size(); ++i) {
    DeployedRule& rule = rules_[i];
    rule.level = strata.rules[i];
    levels_ = std::max(levels_, rule.level + 1);
    types_[rule.rule().type].produced = true;
    names_.push_back(rule.rule().name);
    places_.emplace(rule.rule().name, i);
    if (rule.rule().timer || rule.plan->deadline) temporal_rules_.push_back(i);
    if (!rule.rule().consuming.empty()) consuming_rules_.push_back(i);
    if (Post& post = rule.placement.post(); post.evaluators.empty()) {
      post.evaluators.push_back(post.engine->prepare(rule.plan, history));
      if (const auto reason = post.engine->declined(*rule.plan); !reason.empty()) {
        rule.placement.set_reason(std::string(post.engine->name()) +
                                  " declines, column evaluates: " + reason);
      }
      rule.terminators = history.column(rule.plan->states[0].scan.column);
      rule.first_terminator = rule.terminators->store().end();
      rule.terminator_column = rule.terminators->id();
      rule.has_timer = rule.rule().timer.has_value();
    }
    const history::ColumnId column = rule.terminator_column;
    if (column >= rules_of_.size()) rules_of_.resize(column + 1);
    rules_of_[column].push_back(i);
  }
}

}  // namespace gorgo::dispatch
