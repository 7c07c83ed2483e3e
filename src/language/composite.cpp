#include "language/composite.hpp"

#include <algorithm>
#include <utility>

#include "language/action_kinds.hpp"
#include "language/definitions.hpp"
#include "language/literal.hpp"
#include "language/syntax.hpp"
#include "language/types.hpp"

namespace gorgo::language {

std::vector<Expr> CompositeBinder::bind_values() {
  const auto attributes = composite_attributes(rule_);
  std::vector<Expr> values(attributes.size());
  std::unordered_map<std::string, std::size_t> index;
  for (std::size_t i = 0; i < attributes.size(); ++i) index.emplace(attributes[i].name, i);
  Given given;
  for (const auto& assignment : rule_.assignments) {
    const ast::Name& name = assignment.attribute;
    check_given_once(name, given);
    const auto target = index.find(name.text);
    if (target == index.end()) report_undefined(name);
    Bound value = bind_value(assignment.value);
    if (target == index.end()) continue;
    value = convert(std::move(value), assignment.value, attributes[target->second]);
    if (value) values[target->second] = std::move(*value);
  }
  check_all_given(given);
  return values;
}

void CompositeBinder::check_given_once(const ast::Name& attribute, Given& given) {
  const auto [it, added] = given.emplace(attribute.text, attribute.at);
  if (added) return;
  reporter_.error(attribute.at,
                  in_quotes(attribute.text) + " already has a value at " + place(it->second),
                  "`where` gives every attribute one value");
}

void CompositeBinder::check_all_given(const Given& given) {
  for (const auto& attribute : rule_.attributes) {
    if (rule_.trex_spelling || given.contains(attribute.name.text)) continue;
    reporter_.error(attribute.name.at,
                    "attribute " + in_quotes(attribute.name.text) + " of " +
                        in_quotes(rule_.type.text) + " gets no value",
                    "add `" + attribute.name.text + " = ...` to `where`");
  }
}

void CompositeBinder::report_undefined(const ast::Name& attribute) {
  if (reporter_.full()) return;
  std::vector<std::string> names;
  for (const auto& defined : rule_.attributes) names.push_back(defined.name.text);
  reporter_.error(attribute.at,
                  in_quotes(rule_.type.text) + " has no attribute " + in_quotes(attribute.text),
                  reporter_.suggest(attribute.text, names, "`define` lists the attributes"));
}

Bound CompositeBinder::bind_value(const ast::Expr& expr) {
  Context context{Context::Kind::where};
  context.earlier = static_cast<std::uint32_t>(scope_.states().size());
  return expressions_.bind(expr, context);
}

Bound CompositeBinder::convert(Bound value, const ast::Expr& expr, const AttributeType& target) {
  if (!value || value->type == target.type) return value;
  if (!is_number(value->type) || !is_number(target.type)) {
    reporter_.error(expr.at,
                    in_quotes(target.name) + " is " + std::string(gorgo::to_string(target.type)) +
                        ", but " + show(expr) + " is " + std::string(gorgo::to_string(value->type)),
                    "only int and float are converted into each other");
    return std::nullopt;
  }
  if (target.type == ValueType::floating) return as_float(std::move(*value));
  std::vector<Expr> args;
  args.push_back(std::move(*value));
  return make_operation(Op::to_int, ValueType::integer, std::move(args));
}

std::vector<OrderKey> CompositeBinder::bind_order() {
  const auto attributes = composite_attributes(rule_);
  std::vector<OrderKey> order;
  for (const auto& key : rule_.order) {
    const auto found = std::ranges::find(attributes, key.attribute.text, &AttributeType::name);
    if (found == attributes.end()) {
      report_undefined(key.attribute);
      continue;
    }
    order.push_back({static_cast<std::uint32_t>(found - attributes.begin()), key.descending});
  }
  return order;
}

std::optional<std::uint64_t> CompositeBinder::bind_limit() {
  if (!rule_.limit) return std::nullopt;
  if (rule_.limit->composites >= 1) return static_cast<std::uint64_t>(rule_.limit->composites);
  reporter_.error(rule_.limit->at, "a limit of 0 leaves no composite",
                  "write a number of at least 1");
  return std::nullopt;
}

std::vector<std::uint32_t> CompositeBinder::bind_consumed() {
  std::vector<std::uint32_t> consumed;
  for (const auto& name : rule_.consuming) {
    const auto state = scope_.find_state(name.text);
    if (!state) {
      scope_.explain_unknown_state(name, reporter_);
    } else if (scope_.states()[*state].table) {
      reporter_.error(name.at, "a row of a table is not consumed",
                      "it stays until another row with its key comes");
    } else if (*state != 0) {
      consumed.push_back(*state);
    } else {
      const std::string message = "the terminator " + in_quotes(name.text) + " cannot be consumed";
      if (rule_.trex_spelling) {
        reporter_.warning(name.at, message + "; ignored");
      } else {
        reporter_.error(name.at, message,
                        "it is used once anyway: each event is the terminator of a rule only "
                        "when it arrives");
      }
    }
  }
  std::sort(consumed.begin(), consumed.end());
  consumed.erase(std::unique(consumed.begin(), consumed.end()), consumed.end());
  return consumed;
}

std::vector<Action> CompositeBinder::bind_actions() {
  std::vector<Action> actions;
  for (const ast::Action& written : rule_.actions) {
    Action action{lower_case(written.kind.text), written.target.text, written.kind.at};
    if (find_action_kind(action.kind) == nullptr) {
      const auto kinds = action_names();
      reporter_.error(
          written.kind.at, "there is no action " + in_quotes(written.kind.text),
          reporter_.suggest(action.kind, kinds, "the actions are " + listing(kinds, "and")));
      continue;
    }
    const auto is_same = [&](const Action& other) { return other.text() == action.text(); };
    if (std::ranges::any_of(actions, is_same)) {
      reporter_.error(written.kind.at, in_quotes(action.text()) + " stands there twice",
                      "each target gets a composite once");
      continue;
    }
    actions.push_back(std::move(action));
  }
  return actions;
}

}  // namespace gorgo::language
