#include <algorithm>
#include <map>

#include "dispatch/rules/rule_base.hpp"
#include "language/language.hpp"
#include "language/names.hpp"
#include "language/reporter.hpp"
#include "plan/pane_problems.hpp"
#include "plan/warnings.hpp"

namespace gorgo::dispatch {
namespace {

void append(Diagnostics& to, Diagnostics from) {
  std::ranges::move(from.list, std::back_inserter(to.list));
}

/// The types of the base, without those that only the replaced rules use and that go with them.
Schema types_to_stay(const RuleBase& base, const std::vector<std::string>& replaced) {
  Schema schema = base.schema;
  std::map<TypeId, std::uint32_t> gone;
  for (const std::string& name : replaced) {
    if (const auto* plan = base.plans.find(name)) {
      for (const TypeId type : types_of(**plan)) ++gone[type];
    }
  }
  for (const auto& [type, uses] : gone) {
    if (uses < base.uses_of(type) || !goes_with_its_rules(base.schema.at(type))) continue;
    schema.remove(base.schema.at(type).name);
  }
  return schema;
}

/// Makes the plans of the rules, unless something about the rules is wrong.
class Planner {
 public:
  Planner(const RuleBase& base, const language::Source& source, const DeployOptions& options)
      : base_(base), reporter_(source), options_(options) {}

  void add(Rule rule, CheckedText& checked) {
    check(rule);
    checked.plans.push_back(std::make_shared<plan::Plan>(plan::make_plan(std::move(rule))));
  }
  Diagnostics take() { return reporter_.take(); }

 private:
  void check(const Rule& rule) {
    if (!options_.replace && base_.plans.find(rule.name) != nullptr) {
      reporter_.error(rule.at, "a rule " + language::in_quotes(rule.name) + " is deployed already",
                      "deploy with replacement, or remove it first");
    }
    if (rule.options.engine.empty()) {  // else it was looked at with the text
      const auto problem = problem_of_engine(base_.default_engine);
      if (problem) reporter_.error(rule.at, problem->message, problem->hint);
    }
    for (const Action& action : rule.actions) check(action);
  }
  void check(const Action& action) {
    const auto* known = options_.actions.get();
    if (known == nullptr || std::ranges::find(*known, action.text()) != known->end()) return;
    reporter_.error(action.at, "there is no target " + language::in_quotes(action.text()),
                    reporter_.suggest(action.text(), *known,
                                      "the configuration has it as [actions." + action.target +
                                          "] with kind = \"" + action.kind + "\""));
  }

  const RuleBase& base_;
  language::Reporter reporter_;
  const DeployOptions& options_;
};

/// Works out what there will be once the rules are in force, so that whoever puts them in force
/// need not.
void look_ahead(const RuleBase& base, CheckedText& checked) {
  checked.text = std::make_shared<const RuleText>(
      RuleText{checked.source, checked.options, checked.plans.size()});
  checked.next = base;
  checked.next.schema = checked.schema;
  for (const auto& plan : checked.plans) {
    const auto* const known = checked.next.plans.find(plan->rule.name);
    if (const auto replaced = known == nullptr ? nullptr : *known) checked.next.remove(*replaced);
    checked.next.add(plan);
    add_reads(*plan, checked.reads);
  }
}

}  // namespace

void RuleBase::add(const std::shared_ptr<const plan::Plan>& plan) {
  plans.insert(plan->rule.name, plan);
  for (const TypeId type : types_of(*plan)) {
    while (uses.size() <= type) uses.push_back(0);
    uses.set(type, uses[type] + 1);
  }
}

void RuleBase::remove(const plan::Plan& plan) {
  plans.erase(plan.rule.name);
  for (const TypeId type : types_of(plan)) uses.set(type, uses[type] - 1);
}

std::optional<Error> problem_of_engine(std::string_view name) {
  const auto names = engine_names();
  if (std::ranges::find(names, name) != names.end()) return std::nullopt;
  const auto near = closest_name(name, names);
  return Error{"there is no engine " + language::in_quotes(name),
               near.empty() ? "the engines are " + language::listing(names, "and")
                            : "did you mean " + language::in_quotes(near) + "?"};
}

Diagnostics problems_of_engines(const ast::File& file, const language::Source& source) {
  language::Reporter reporter(source);
  for (const ast::Item& item : file.items) {
    const auto* rule = std::get_if<ast::RuleDefinition>(&item);
    if (rule == nullptr) continue;
    for (const ast::Annotation& annotation : rule->annotations) {
      if (annotation.name.text != "engine" || annotation.arguments.size() != 1) continue;
      const ast::AnnotationArgument& argument = annotation.arguments[0];
      const auto* name = std::get_if<std::string>(&argument.value);
      if (name == nullptr || !argument.name.text.empty()) continue;
      const auto problem = problem_of_engine(*name);
      if (problem) reporter.error(argument.value_at, problem->message, problem->hint);
    }
  }
  return reporter.take();
}

const std::string& engine_name_of(const Rule& rule, const std::string& default_engine) {
  return rule.options.engine.empty() ? default_engine : rule.options.engine;
}

std::set<TypeId> types_of(const plan::Plan& plan) {
  std::set<TypeId> types{plan.rule.type};
  for (const auto& [type, reach] : plan.reach) types.insert(type);
  for (const JointType& joint : plan.rule.joints) {
    for (const JointMember& member : joint.members) types.insert(member.type);
  }
  return types;
}

bool goes_with_its_rules(const EventType& type) {
  return type.origin != TypeOrigin::declared && !type.internal();
}

CheckedText check_text(const RuleBase& base, language::Source text, const DeployOptions& options) {
  CheckedText checked{.source = std::move(text),
                      .options = options,
                      .version = base.version,
                      .diagnostics = {},
                      .schema = {},
                      .plans = {},
                      .text = nullptr,
                      .next = {},
                      .reads = {}};
  const language::Source& source = checked.source;
  language::ParsedFile parsed = language::parse(source);
  checked.diagnostics = std::move(parsed.diagnostics);
  if (checked.diagnostics.failed()) return checked;

  const Schema known = options.replace
                           ? types_to_stay(base, language::rule_names(parsed.file, source))
                           : base.schema;
  language::BoundFile bound = language::bind(parsed.file, known, source);
  append(checked.diagnostics, std::move(bound.diagnostics));
  if (!checked.diagnostics.failed()) {
    append(checked.diagnostics, problems_of_engines(parsed.file, source));
  }
  if (checked.diagnostics.failed()) return checked;

  Planner planner(base, source, options);
  for (Rule& rule : bound.rules) planner.add(std::move(rule), checked);
  append(checked.diagnostics, planner.take());
  std::vector<const plan::Plan*> plans;
  for (const auto& plan : checked.plans) plans.push_back(plan.get());
  append(checked.diagnostics, plan::problems_of_panes(plans, bound.schema, source));
  if (checked.diagnostics.failed()) return checked;

  append(checked.diagnostics, plan::rule_warnings(plans, bound.schema, source));
  checked.schema = std::move(bound.schema);
  look_ahead(base, checked);
  return checked;
}

}  // namespace gorgo::dispatch

namespace gorgo {

PreparedRules prepare_rules(const RuleSnapshot& snapshot, std::string name, std::string text,
                            const DeployOptions& options) {
  return std::make_shared<dispatch::CheckedText>(
      dispatch::check_text(*snapshot, {std::move(name), std::move(text)}, options));
}

}  // namespace gorgo
