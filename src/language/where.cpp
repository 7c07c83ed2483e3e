#include <algorithm>
#include <utility>

#include "language/definitions.hpp"
#include "language/rule_binder.hpp"
#include "language/syntax.hpp"

namespace gorgo::language {

void RuleBinder::bind_where() {
  const auto attributes = composite_attributes(ast_);
  std::vector<Bound> values(attributes.size());
  std::unordered_map<std::string, std::size_t> index;
  for (std::size_t i = 0; i < attributes.size(); ++i) index.emplace(attributes[i].name, i);
  std::unordered_map<std::string, Location> given;
  for (const auto& assignment : ast_.assignments) {
    const ast::Name& name = assignment.attribute;
    const auto [it, added] = given.emplace(name.text, name.at);
    if (!added) {
      reporter_.error(name.at,
                      in_quotes(name.text) + " already has a value at " + place(it->second),
                      "`where` gives every attribute one value");
    }
    const auto target = index.find(name.text);
    const bool defined = target != index.end();
    if (!defined) report_undefined(name);
    bind_assignment(assignment, defined ? &attributes[target->second] : nullptr,
                    defined ? &values[target->second] : nullptr);
  }
  for (const auto& attribute : ast_.attributes) {
    if (ast_.trex_spelling || given.contains(attribute.name.text)) continue;
    reporter_.error(attribute.name.at,
                    "attribute " + in_quotes(attribute.name.text) + " of " +
                        in_quotes(ast_.type.text) + " gets no value",
                    "add `" + attribute.name.text + " = ...` to `where`");
  }
  for (Bound& value : values) rule_.assignments.push_back(value ? std::move(*value) : Expr{});
}

void RuleBinder::report_undefined(const ast::Name& name) {
  if (reporter_.full()) return;
  std::vector<std::string> names;
  for (const auto& attribute : ast_.attributes) names.push_back(attribute.name.text);
  reporter_.error(name.at, in_quotes(ast_.type.text) + " has no attribute " + in_quotes(name.text),
                  reporter_.suggest(name.text, names, "`define` lists the attributes"));
}

/// `target` is null when the composite has no such attribute.
void RuleBinder::bind_assignment(const ast::Assignment& assignment, const AttributeType* target,
                                 Bound* value) {
  const ast::Expr& expr = assignment.value;
  if (is_comparison(expr.kind) || is_logical(expr.kind) || expr.kind == ast::ExprKind::bind) {
    return reporter_.error(expr.at, in_quotes(spelling(expr.kind)) + " cannot stand in `where`",
                           "`where` computes values; test conditions in a filter");
  }
  Context context{Context::Kind::where};
  context.earlier = static_cast<std::uint32_t>(scope_.states().size());
  Bound bound = bind_expr(expr, context);
  if (target != nullptr) *value = convert(std::move(bound), expr, *target);
}

RuleBinder::Bound RuleBinder::convert(Bound value, const ast::Expr& expr,
                                      const AttributeType& target) {
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

void RuleBinder::bind_consuming() {
  for (const auto& name : ast_.consuming) {
    const auto state = scope_.find_state(name.text);
    if (!state) {
      scope_.explain_unknown_state(name, reporter_);
    } else if (*state == 0) {
      const std::string message = "the terminator " + in_quotes(name.text) + " cannot be consumed";
      if (ast_.trex_spelling) {
        reporter_.warning(name.at, message + "; ignored");
      } else {
        reporter_.error(name.at, message,
                        "it is used once anyway: each event is the terminator of a rule only "
                        "when it arrives");
      }
    } else {
      rule_.consuming.push_back(*state);
    }
  }
  std::sort(rule_.consuming.begin(), rule_.consuming.end());
  rule_.consuming.erase(std::unique(rule_.consuming.begin(), rule_.consuming.end()),
                        rule_.consuming.end());
}

}  // namespace gorgo::language
