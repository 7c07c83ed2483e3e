#include "language/symbols.hpp"

#include <algorithm>
#include <cctype>
#include <unordered_set>
#include <utility>

#include "codec/names.hpp"
#include "language/aggregate_names.hpp"
#include "language/build_item.hpp"
#include "language/joint_types.hpp"
#include "language/names.hpp"
#include "language/parse_items.hpp"
#include "language/syntax.hpp"

namespace gorgo::language {
namespace {

using ast::ExprKind;

/// Collects the names of one item after the other.
class SymbolCollector {
 public:
  explicit SymbolCollector(Symbols& symbols) : symbols_(symbols) {}

  void add(const ast::EventDeclaration& event) {
    type(event.name, true);
    attributes(event.name.text, event.attributes);
  }

  /// `described` is what is known of the rule without its pattern.
  void add(const ast::RuleDefinition& rule, RuleSymbols described) {
    number_ = static_cast<std::uint32_t>(symbols_.rules.size());
    described.type = rule.type.text;
    rule_ = std::move(described);
    bound_.clear();
    if (rule.name) {
      put(rule.name->at, {SymbolKind::rule, rule.name->text, "", number_}, true);
    }
    for (const auto& number : rule.numbers) type(number.type, false);
    type(rule.type, true);
    attributes(rule.type.text, rule.attributes);
    enter_states(rule);
    pattern(rule);
    for (const auto& assignment : rule.assignments) {
      attribute(assignment.attribute, rule.type.text, false);
      expr(assignment.value, "");
    }
    for (const auto& key : rule.order) attribute(key.attribute, rule.type.text, false);
    for (const auto& state : rule.consuming) this->state(state);
    symbols_.rules.push_back(std::move(rule_));
  }

 private:
  /// Negations, aggregates and spans may look ahead.
  void enter_states(const ast::RuleDefinition& rule) {
    const auto enter = [this](const ast::Predicate& predicate) {
      const ast::Name& name = predicate.alias ? *predicate.alias : predicate.type;
      rule_.states.push_back({name.text, predicate.type.text});
    };
    if (const auto* terminator = std::get_if<ast::Predicate>(&rule.terminator)) {
      enter(*terminator);
    } else {
      rule_.states.push_back({"Timer", ""});
    }
    for (const auto& clause : rule.clauses) {
      if (const auto* state = std::get_if<ast::StateClause>(&clause)) enter(state->predicate);
    }
  }

  void pattern(const ast::RuleDefinition& rule) {
    if (const auto* p = std::get_if<ast::Predicate>(&rule.terminator)) {
      predicate(*p, true);
      if (rule.every) keys(rule.every->per, p->type.text);
    }
    for (const auto& clause : rule.clauses) {
      if (const auto* state = std::get_if<ast::StateClause>(&clause)) {
        predicate(state->predicate, true);
        keys(state->per, state->predicate.type.text);
        span(state->span);
      } else if (const auto* negation = std::get_if<ast::NegationClause>(&clause)) {
        predicate(negation->predicate, false);
        span(negation->span);
      } else if (const auto* binding = std::get_if<ast::AggregateBinding>(&clause)) {
        if (binding->left) expr(*binding->left, "");
        bind(*binding);
      } else {
        expr(std::get<ast::FilterClause>(clause).condition, "");
      }
    }
  }

  void keys(const std::vector<ast::Expr>& per, const std::string& type) {
    for (const auto& key : per) attribute(key.name, type, false);
  }

  void predicate(const ast::Predicate& p, bool binds) {
    if (p.any_of.empty()) type({table_of(p.type.text), p.type.at}, false);
    for (const ast::Name& one : p.any_of) type(one, false);
    std::unordered_set<const ast::Expr*> bindings;
    if (binds) {
      for (const ast::Expr* condition : conjuncts(p)) bind(*condition, p, bindings);
    }
    for (const auto& condition : p.conditions) expr(condition, table_of(p.type.text), bindings);
    if (p.alias) put(p.alias->at, {SymbolKind::state, p.alias->text, "", number_}, true);
  }

  /// The type whose rows a type has; any other as it is.
  static std::string table_of(const std::string& type) {
    return is_rows_name(type) ? joined_names(type).front() : type;
  }

  /// Notes the parameter that the condition binds, if it is the first to do so.
  void bind(const ast::Expr& condition, const ast::Predicate& p,
            std::unordered_set<const ast::Expr*>& bindings) {
    if (condition.kind != ExprKind::equal && condition.kind != ExprKind::bind) return;
    const ast::Expr& left = condition.children[0];
    const ast::Expr& right = condition.children[1];
    const bool fits = left.kind == ExprKind::attribute && right.kind == ExprKind::parameter;
    if (!fits || !bound_.insert(right.name.text).second) return;
    bindings.insert(&right);
    const std::string& state = p.alias ? p.alias->text : p.type.text;
    rule_.parameters.push_back(
        {"$" + right.name.text, state + "." + left.name.text, p.type.text, left.name.text, {}});
  }

  /// `$t = AGG(...)`
  void bind(const ast::AggregateBinding& binding) {
    const ast::AggregateCall& call = *binding.aggregate;
    const std::string& type = call.predicate.type.text;
    const std::string attribute = call.attribute ? call.attribute->text : "";
    rule_.parameters.push_back({"$" + binding.parameter.text,
                                std::string(to_string(call.function)) + "(" + type +
                                    (attribute.empty() ? "" : "." + attribute) + ")",
                                type, attribute, call.function});
    parameter(binding.parameter, true);
    aggregate(call);
  }

  void expr(const ast::Expr& e, const std::string& own_type,
            const std::unordered_set<const ast::Expr*>& bindings = {}) {
    switch (e.kind) {
      case ExprKind::attribute:
        return attribute(e.name, own_type, false);
      case ExprKind::state_attribute:
        state(e.qualifier);
        return attribute(e.name, type_of_state(e.qualifier.text), false);
      case ExprKind::parameter:
        return parameter(e.name, bindings.contains(&e));
      case ExprKind::aggregate:
        return aggregate(*e.aggregate);
      default:
        for (const auto& child : e.children) expr(child, own_type, bindings);
    }
  }

  void aggregate(const ast::AggregateCall& call) {
    predicate(call.predicate, false);
    const auto& type = call.predicate.type.text;
    if (call.attribute) attribute(*call.attribute, call.lookup ? table_of(type) : type, false);
    span(call.span);
  }

  void span(const ast::Span& s) {
    state(s.first);
    if (s.kind == SpanKind::between) state(s.second);
  }

  void attributes(const std::string& owner, const std::vector<ast::AttributeDeclaration>& list) {
    for (const auto& declared : list) attribute(declared.name, owner, true);
  }

  void type(const ast::Name& name, bool defines) {
    put(name.at, {SymbolKind::type, name.text, "", 0}, defines);
  }

  void attribute(const ast::Name& name, const std::string& owner, bool defines) {
    if (owner.empty() || name.text == "timestamp") return;
    put(name.at, {SymbolKind::attribute, name.text, owner, 0}, defines);
  }

  void parameter(const ast::Name& name, bool defines) {
    put(name.at, {SymbolKind::parameter, "$" + name.text, "", number_}, defines);
  }

  void state(const ast::Name& name) {
    const std::string type = type_of_state(name.text);
    if (type.empty()) return;
    if (type == name.text) return put(name.at, {SymbolKind::type, type, "", 0}, false);
    put(name.at, {SymbolKind::state, name.text, "", number_}, false);
  }

  std::string type_of_state(const std::string& name) const {
    const auto it = std::find_if(rule_.states.begin(), rule_.states.end(),
                                 [&](const auto& state) { return state.name == name; });
    return it == rule_.states.end() ? "" : it->type;
  }

  void put(Location at, Symbol symbol, bool defines) {
    symbols_.occurrences.push_back({at, std::move(symbol), defines});
  }

  Symbols& symbols_;
  RuleSymbols rule_;
  std::uint32_t number_ = 0;
  std::unordered_set<std::string> bound_;  // parameters of the rule
};

}  // namespace

Symbols symbols_of(const Source& source) {
  Symbols symbols;
  SymbolCollector collector(symbols);
  Reporter reporter(source);
  ItemBuilder builder(reporter);
  ast::File file;
  std::vector<Location> ends;  // of the items
  parse_items(source, reporter, [&](grammar::TeslaParser::ItemContext* tree) {
    const std::size_t errors = reporter.errors();
    auto item = builder.item(tree);
    if (reporter.errors() > errors || !item) return;
    file.items.push_back(std::move(*item));
    const antlr4::Token* last = tree->ruleDefinition() != nullptr ? tree->ruleDefinition()->stop
                                : tree->tableDeclaration() != nullptr
                                    ? tree->tableDeclaration()->stop
                                    : tree->eventDeclaration()->stop;
    ends.push_back(reporter.locate(last->getStartIndex(), last->getText().size()));
  });
  const std::vector<std::string> names = rule_names(file, source);
  for (std::size_t i = 0; i < file.items.size(); ++i) {
    if (const auto* event = std::get_if<ast::EventDeclaration>(&file.items[i])) {
      collector.add(*event);
    } else {
      const auto& rule = std::get<ast::RuleDefinition>(file.items[i]);
      collector.add(rule, {.name = names[symbols.rules.size()], .at = rule.at, .end = ends[i]});
    }
  }
  const auto before = [](const Occurrence& a, const Occurrence& b) { return a.at < b.at; };
  std::stable_sort(symbols.occurrences.begin(), symbols.occurrences.end(), before);
  return symbols;
}

std::string refuse_name(SymbolKind kind, const std::string& name) {
  const bool parameter = kind == SymbolKind::parameter;
  if (parameter != name.starts_with('$') || !codec::is_word(parameter ? name.substr(1) : name)) {
    return in_quotes(name) + " is no name: " + (parameter ? "`$` and then " : "") +
           "letters, digits and `_`, no digit first";
  }
  Reporter reporter("", "");
  if (kind == SymbolKind::attribute) {
    check_attribute_name({name, {}}, reporter);
  } else if (!parameter) {
    check_name({name, {}}, kind == SymbolKind::rule ? "a rule" : "a type", reporter);
  }
  const Diagnostics diagnostics = reporter.take();
  return diagnostics.failed() ? diagnostics.list.front().message : "";
}

}  // namespace gorgo::language
