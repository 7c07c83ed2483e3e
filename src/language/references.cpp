#include "language/references.hpp"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "language/foreign_words.hpp"
#include "language/server_types.hpp"
#include "language/syntax.hpp"

namespace gorgo::language {

Bound ReferenceBinder::bind(const ast::Expr& expr, const Context& context) {
  const Resolution resolution = scope_.resolve(expr, context);
  if (const auto* why = std::get_if<Unresolved>(&resolution)) {
    scope_.explain(*why, expr, reporter_);
    return std::nullopt;
  }
  if (const auto* total = std::get_if<const ast::AggregateBinding*>(&resolution)) {
    return value_of(*(*total)->aggregate);
  }
  const auto& reference = std::get<Reference>(resolution);
  Bound bound;
  if (reference.is_time()) {
    bound.emplace().op = Op::timestamp;
  } else {
    const bool slip_is_here = expr.kind != ast::ExprKind::parameter;
    const Location at = slip_is_here ? expr.name.at : expr.at;
    const bool alone = expr.kind == ast::ExprKind::attribute;
    bound = bind_attribute(reference.type, reference.attribute, at, alone);
  }
  if (bound) bound->source = reference.source;
  return bound;
}

Bound ReferenceBinder::value_of(const ast::AggregateCall& call) const {
  const auto type = type_of_value(call);
  if (!type) return std::nullopt;
  Expr bound;
  bound.op = Op::aggregate;
  bound.type = *type;
  bound.index = scope_.number_of(&call);
  return bound;
}

std::optional<ValueType> ReferenceBinder::type_of_value(const ast::AggregateCall& call) const {
  if (own_type(call.function) == ValueType::integer) return ValueType::integer;
  const TypeEntry& entry = types_.at(*types_.find(call.predicate.type.text));
  if (!call.attribute || is_poisoned(entry, call.attribute->text)) return std::nullopt;
  const auto index = entry.find(call.attribute->text);
  if (!index) return std::nullopt;
  const ValueType type = entry.type.attributes[*index].type;
  if (!takes_any_type(call.function) && !is_number(type)) return std::nullopt;
  return own_type(call.function).value_or(type);
}

Bound ReferenceBinder::attribute_of(const ast::AggregateCall& call) {
  const TypeIndex type = *types_.find(call.predicate.type.text);
  return bind_attribute(type, call.attribute->text, call.attribute->at, false);
}

Bound ReferenceBinder::bind_attribute(TypeIndex type, std::string_view name, Location at,
                                      bool alone) {
  if (type == kNoEntry) {
    reporter_.error(at, "a timer has no attribute " + in_quotes(name),
                    "it has only a time: `Timer.timestamp`");
    return std::nullopt;
  }
  const TypeEntry& entry = types_.at(type);
  if (is_poisoned(entry, name)) return std::nullopt;
  const auto index = entry.find(name);
  if (!index) {
    report_missing_attribute(type, name, at, alone);
    return std::nullopt;
  }
  Expr bound;
  bound.op = Op::attribute;
  bound.index = *index;
  bound.type = entry.type.attributes[*index].type;
  return bound;
}

/// Whether an error about the attribute was reported.
bool ReferenceBinder::is_poisoned(const TypeEntry& entry, std::string_view name) const {
  const std::string attribute(name);
  return entry.poisoned.contains(attribute) ||
         std::ranges::any_of(entry.members, [&](TypeIndex member) {
           return types_.at(member).poisoned.contains(attribute);
         });
}

/// Reports why an attribute is not common to the types of a state.
void ReferenceBinder::report_uncommon(const TypeEntry& joint, std::string_view name, Location at) {
  std::string why, types;
  for (const TypeIndex index : joint.members) {
    const EventType& member = types_.at(index).type;
    const auto found = member.find(name);
    if (!found) {
      why = in_quotes(member.name) + " has no such attribute";
      break;
    }
    types += (types.empty() ? "" : " and ") +
             std::string(gorgo::to_string(member.attributes[*found].type)) + " in " +
             in_quotes(member.name);
  }
  if (why.empty()) why = "it is " + types;
  std::vector<std::string> names;
  for (const auto& attribute : joint.type.attributes) {
    if (!attribute.name.empty()) names.push_back(attribute.name);
  }
  reporter_.error(at, in_quotes(name) + " is not common to the types of this state: " + why,
                  names.empty() ? "they have no attribute in common; write a rule for each type"
                                : "they have in common " + listing(names, "and"));
}

/// Reports each attribute once in a rule.
void ReferenceBinder::report_missing_attribute(TypeIndex type, std::string_view name, Location at,
                                               bool alone) {
  const EventType& known = types_.at(type).type;
  if (reporter_.full() || !scope_.first_report(known.name + "." + std::string(name))) return;
  const TypeEntry& entry = types_.at(type);
  if (entry.members.size() == 1) {
    return report_missing_attribute(entry.members[0], name, at, alone);
  }
  if (!entry.members.empty()) {
    return report_uncommon(entry, name, at);
  }
  if (known.origin == TypeOrigin::inferred && !is_server_name(known.name)) {
    const ValueType guess = inference_.guess(type, name);
    return reporter_.error(
        at,
        "the deployed rules imply " + declaration(known) +
            ", and a rule cannot add the attribute " + in_quotes(name),
        "remove these rules, and declare " + declaration_with(known, name, guess) + " before them");
  }
  std::vector<std::string> names;
  for (const auto& attribute : known.attributes) names.push_back(attribute.name);
  if (alone) std::ranges::move(scope_.constant_names(), std::back_inserter(names));
  std::string hint = hint_for_name(name);
  if (hint.empty()) hint = reporter_.suggest(name, names, "it is " + declaration(known));
  reporter_.error(at, "type " + in_quotes(known.name) + " has no attribute " + in_quotes(name),
                  std::move(hint));
}

}  // namespace gorgo::language
