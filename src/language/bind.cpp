#include <memory>
#include <set>
#include <utility>

#include "language/definitions.hpp"
#include "language/evidence.hpp"
#include "language/inference.hpp"
#include "language/language.hpp"
#include "language/misspelt.hpp"
#include "language/names.hpp"
#include "language/rule_binder.hpp"
#include "language/scope.hpp"
#include "language/syntax.hpp"

namespace gorgo::language {
namespace {

/// The rules that are shallow enough to recurse into.
std::vector<const ast::RuleDefinition*> bindable_rules(const ast::File& file, Reporter& reporter) {
  std::vector<const ast::RuleDefinition*> rules;
  for (const auto& item : file.items) {
    const auto* rule = std::get_if<ast::RuleDefinition>(&item);
    if (rule == nullptr) continue;
    Location at;
    if (too_deep(*rule, at)) {
      reporter.error(at, "this expression nests deeper than " + std::to_string(kMaxExprDepth),
                     "split it into several filters or rules");
    } else {
      rules.push_back(rule);
    }
  }
  return rules;
}

void note_joint_types(Rule& rule, const Schema& schema) {
  std::set<TypeId> types;
  if (!rule.timer) types.insert(rule.states[0].predicate.type);
  for (std::size_t i = 1; i < rule.states.size(); ++i) types.insert(rule.states[i].predicate.type);
  for (const Negation& negation : rule.negations) types.insert(negation.predicate.type);
  for (const Aggregate& aggregate : rule.aggregates) types.insert(aggregate.predicate.type);
  for (const TypeId type : types) {
    if (schema.knows(type) && schema.at(type).joint()) {
      rule.joints.push_back({type, schema.at(type).members});
    }
  }
}

}  // namespace

BoundFile bind(const ast::File& file, const Schema& known, const Source& source) {
  Reporter reporter(source);
  TypeTable types(known);
  Inference inference(types, reporter);
  enter_definitions(file, types, reporter);

  const auto rules = bindable_rules(file, reporter);
  std::vector<Scope> scopes;
  scopes.reserve(rules.size());
  for (const auto* rule : rules) {
    scopes.emplace_back(*rule, file.constants, types, reporter);
    EvidenceCollector(*rule, scopes.back(), types, inference).collect();
  }
  enter_numbers(file, types, known, reporter);
  inference.solve();
  warn_of_misspelt_types(types, known, reporter);

  BoundFile bound;
  bound.schema = types.build_schema();
  RuleNames names(source, rules, reporter);
  const FileContext context{source, types, inference, reporter};
  for (std::size_t i = 0; i < rules.size(); ++i) {
    bound.rules.push_back(
        RuleBinder(*rules[i], scopes[i], context).bind(names.full_name(*rules[i])));
    note_joint_types(bound.rules.back(), bound.schema);
  }
  if (reporter.failed()) bound = {{}, known, {}};
  bound.diagnostics = reporter.take();
  return bound;
}

}  // namespace gorgo::language
