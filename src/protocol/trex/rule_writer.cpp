#include "protocol/trex/rule_writer.hpp"

#include <algorithm>
#include <set>
#include <utility>

/// Clauses; expressions are in rule_expression.cpp.
namespace gorgo::protocol::trex {

RuleWriter::RuleWriter(const Rule& rule, const TypeNames& names) : rule_(rule), names_(names) {
  name_states();
  place_parameters();
}

Result<RuleText> RuleWriter::write() {
  if (rule_.predicates.empty()) fail("has no predicate");
  std::string text = numbers() + define() + pattern() + where() + consuming() + ";\n";
  if (!problem_.empty()) return Error{"the rule " + problem_, ""};
  return RuleText{std::move(text), names_(rule_.composite.type), std::move(notes_)};
}

std::string RuleWriter::fail(std::string what) {
  if (problem_.empty()) problem_ = std::move(what);
  return {};
}

std::string RuleWriter::take(Result<std::string> text) {
  if (text) return std::move(*text);
  return fail("cannot be written: " + text.error().to_string());
}

bool RuleWriter::is_state(std::int32_t index) const {
  return index >= 0 && static_cast<std::size_t>(index) < rule_.predicates.size();
}

/// A state has the name of its type, unless another one has it already.
void RuleWriter::name_states() {
  std::set<std::string> taken;
  for (const Predicate& predicate : rule_.predicates) taken.insert(names_(predicate.type));
  std::set<std::string> used;
  for (const Predicate& predicate : rule_.predicates) {
    const std::string type = names_(predicate.type);
    std::string name = type;
    for (int count = 2; used.contains(name) || (name != type && taken.contains(name)); ++count) {
      name = type + "_" + std::to_string(count);
    }
    used.insert(name);
    states_.push_back(std::move(name));
  }
}

void RuleWriter::place_parameters() {
  for (const Parameter& parameter : rule_.parameters) place(parameter);
}

/// Numbers on the wire, so that subscribers with other clients see which is which.
std::string RuleWriter::numbers() {
  std::set<std::int32_t> types{rule_.composite.type};
  for (const auto& predicate : rule_.predicates) types.insert(predicate.type);
  for (const auto& negation : rule_.negations) types.insert(negation.type);
  for (const auto& aggregate : rule_.aggregates) types.insert(aggregate.type);
  std::string text;
  for (const std::int32_t type : types) {
    if (type < 0) continue;  // the language has no way to say it
    text += (text.empty() ? "assign " : ", ") + std::to_string(type) + " => " + names_(type);
  }
  return text.empty() ? text : text + "\n";
}

std::string RuleWriter::define() {
  std::string text = "define " + names_(rule_.composite.type) + "(";
  const auto declare = [&](std::string_view name, ValueType type) {
    if (text.back() != '(') text += ", ";
    text += take(attribute_text(name)) + ": " + std::string(to_string(type));
  };
  for (const auto& attribute : rule_.composite.attributes) {
    declare(attribute.name, attribute.value.type);
  }
  for (const auto& constant : rule_.composite.constants) {
    declare(constant.name, type_of(constant.value));
  }
  return text + ")\n";
}

std::string RuleWriter::pattern() {
  std::string text = "from ";
  for (std::int32_t i = 0; is_state(i); ++i) text += state(i);
  for (std::size_t i = 0; i < rule_.negations.size(); ++i) {
    const Negation& negation = rule_.negations[i];
    const Owner owner{Part::negation, static_cast<std::int32_t>(i)};
    text += "\n  and not " + predicate(negation.type, negation.constraints, owner) +
            span(negation.span);
  }
  return text + "\n";
}

std::string RuleWriter::state(std::int32_t index) {
  const auto& state = rule_.predicates[static_cast<std::size_t>(index)];
  const std::string& name = states_[static_cast<std::size_t>(index)];
  std::string text = predicate(state.type, state.constraints, {Part::state, index});
  if (name != names_(state.type)) text += " as " + name;
  if (index == 0) return text;
  if (state.refers_to < 0 || state.refers_to >= index) {
    return fail("has a state " + std::to_string(index) + " that refers to " +
                std::to_string(state.refers_to) + ", which is no earlier one");
  }
  return "\n  and " + selection(state.selection) + " " + text +
         within(state.window, state.refers_to);
}

std::string RuleWriter::selection(Selection selection) {
  switch (selection) {
    case Selection::each:
      return "each";
    case Selection::first:
      return "first";
    case Selection::last:
      return "last";
    case Selection::all:
      break;
  }
  return fail("selects all events together, for which the language has no word");
}

std::string RuleWriter::within(std::int64_t window, std::int32_t state) {
  if (window <= 0) return fail("has a window of " + std::to_string(window) + " ms");
  return " within " + std::to_string(window) + " ms from " + state_name(state);
}

std::string RuleWriter::span(const Span& span) {
  if (span.lower < 0) return within(span.time, span.upper);
  if (span.lower == span.upper) return fail("has a span between a state and itself");
  // Either order of the states is the same span.
  return " between " + state_name(span.lower) + " and " + state_name(span.upper);
}

std::string RuleWriter::predicate(std::int32_t type, const std::vector<Constraint>& constraints,
                                  Owner owner) {
  std::string text = names_(type) + "(";
  const auto add = [&](const std::string& condition) {
    if (text.back() != '(') text += ", ";
    text += condition;
  };
  for (const Constraint& constraint : constraints) add(take(condition_text(constraint)));
  if (const auto more = restricted_.find(owner); more != restricted_.end()) {
    for (const auto& condition : more->second) add(condition);
  }
  return text + ")";
}

std::string RuleWriter::where() {
  std::string text;
  const auto give = [&](std::string_view name, const std::string& value) {
    text += (text.empty() ? "where " : ", ") + take(attribute_text(name)) + " = " + value;
  };
  for (const auto& attribute : rule_.composite.attributes) {
    give(attribute.name, expression(attribute.value, {Part::state, -1}));
  }
  for (const auto& constant : rule_.composite.constants) {
    give(constant.name, take(literal_text(constant.value)));
  }
  return text.empty() ? text : text + "\n";
}

std::string RuleWriter::consuming() {
  std::string text;
  const std::set<std::int32_t> states(rule_.consuming.begin(), rule_.consuming.end());
  for (const std::int32_t state : states) {
    if (state > 0 && is_state(state)) {
      text += (text.empty() ? "consuming " : ", ") + state_name(state);
    } else {
      notes_.push_back(state == 0 ? "its terminator cannot be consumed"
                                  : "it consumes a state " + std::to_string(state) +
                                        ", which it does not have");
    }
  }
  return text;
}

Result<RuleText> rule_text(const Rule& rule, const TypeNames& names) {
  return RuleWriter(rule, names).write();
}

}  // namespace gorgo::protocol::trex
