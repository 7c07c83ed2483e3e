#include "dispatch/explain/witness_text.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "base/arithmetic.hpp"
#include "codec/text.hpp"
#include "codec/timestamp.hpp"
#include "functions/computed_texts.hpp"

namespace gorgo::dispatch {
namespace {

using history::EventRef;
using history::Scope;

bool is_comparison(Op op) { return op >= Op::equal && op <= Op::contains; }
bool is_logic(Op op) { return op >= Op::logical_and && op <= Op::logical_not; }

void append_value(std::string& out, const Datum& value) {
  switch (value.tag) {
    case Datum::Tag::integer:
      return codec::append_integer(out, value.integer);
    case Datum::Tag::floating:
      return codec::append_float(out, value.floating);
    case Datum::Tag::boolean:
      out += value.boolean ? "true" : "false";
      return;
    case Datum::Tag::string:
      return codec::append_json_string(out, value.text());
    case Datum::Tag::none:
      out += "no value";
      return;
  }
}

bool is_constant(const Expr& expr) {
  return expr.op == Op::constant ||
         (!expr.args.empty() && std::all_of(expr.args.begin(), expr.args.end(), is_constant));
}

Expr constant(Datum value) {
  Expr result;
  result.constant = to_value(value);
  return result;
}

void collect_aggregates(const Expr& expr, std::set<std::uint32_t>& found) {
  if (expr.op == Op::aggregate) found.insert(expr.index);
  for (const Expr& arg : expr.args) collect_aggregates(arg, found);
}

double as_double(const Datum& number) {
  return number.tag == Datum::Tag::integer ? static_cast<double>(number.integer) : number.floating;
}

bool is_number(const Datum& value) {
  return value.tag == Datum::Tag::integer || value.tag == Datum::Tag::floating;
}

}  // namespace

std::string WitnessText::event(TypeId type, EventRef event) const {
  const EventType& stored = schema_.at(type);
  std::string out = text_.type(history::own_type(stored, event)) + "@";
  codec::append_milliseconds(out, event.timestamp());
  const auto& attributes = stored.attributes;
  std::string list;
  for (std::uint32_t i = 0; i < attributes.size(); ++i) {
    const Datum value = event.store->attribute(event.slot, i);
    if (!value.exists() || attributes[i].name.empty()) continue;
    list += (list.empty() ? "" : ", ") + attributes[i].name + "=";
    append_value(list, value);
  }
  return list.empty() ? out : out + " {" + list + "}";
}

std::string WitnessText::sequence(std::span<const EventRef> sequence) const {
  std::string out;
  for (std::size_t i = 0; i < sequence.size(); ++i) {
    out += (i == 0 ? "" : ", ") + event(rule_.states[i].predicate.type, sequence[i]);
  }
  return out;
}

std::string WitnessText::clause(std::size_t state) const {
  const State& s = rule_.states[state];
  if (state == 0) return text_.terminator();
  if (s.table) return text_.predicate(s.predicate);
  const std::string keys = text_.keys(s);
  return language::selection_text(s) + " " + text_.predicate(s.predicate) + " " +
         (keys.empty() ? "" : keys + " ") + text_.window(s);
}

std::string WitnessText::negation(const Negation& negation) const {
  return "not " + text_.predicate(negation.predicate) + " " + text_.span(negation.span);
}

std::string WitnessText::filter(const Filter& filter) const {
  return text_.expr(filter.condition, kNoType) + mentioned_aggregates(filter.condition);
}

std::string WitnessText::aggregate(std::uint32_t index) const {
  return "$" + std::to_string(index) + " = " + text_.aggregate(rule_.aggregates[index]);
}

std::string WitnessText::assignment(std::uint32_t index) const {
  const Expr& value = rule_.assignments[index];
  return text_.attribute(rule_.type, index) + " = " + text_.expr(value, kNoType) +
         mentioned_aggregates(value);
}

std::string WitnessText::mentioned_aggregates(const Expr& expr) const {
  std::set<std::uint32_t> indexes;
  collect_aggregates(expr, indexes);
  std::string out;
  for (const std::uint32_t index : indexes) {
    out += (out.empty() ? " with " : ", ") + aggregate(index);
  }
  return out;
}

/// The condition with the values of what it compares in their places.
Expr WitnessText::with_values(const Expr& expr, const Scope& scope) const {
  if (!is_comparison(expr.op) && !is_logic(expr.op)) {
    const functions::ComputedTexts texts;
    return constant(history::evaluate(expr, scope));
  }
  Expr result = expr;
  for (Expr& arg : result.args.own()) arg = with_values(arg, scope);
  return result;
}

std::string WitnessText::found(const Expr& condition, TypeId candidate, const Scope& scope) const {
  if (condition.op == Op::present) return "no value";
  if (is_comparison(condition.op)) {
    const bool left = is_constant(condition.args[0]);
    if (left || is_constant(condition.args[1])) {
      std::string out;
      const functions::ComputedTexts texts;
      append_value(out, history::evaluate(condition.args[left ? 1 : 0], scope));
      return out;
    }
  }
  return text_.expr(with_values(condition, scope), candidate);
}

Nearness nearness(std::span<const Expr> conditions, std::size_t first, const Scope& scope) {
  Nearness result;
  for (std::size_t i = first; i < conditions.size(); ++i) {
    result.failed += history::holds(conditions[i], scope) ? 0 : 1;
  }
  const Expr& condition = conditions[first];
  const bool by_size = condition.op >= Op::less && condition.op <= Op::greater_equal;
  result.unordered = true;
  if (!by_size) return result;
  const functions::ComputedTexts texts;
  const Datum left = history::evaluate(condition.args[0], scope);
  const Datum right = history::evaluate(condition.args[1], scope);
  if (!is_number(left) || !is_number(right)) return result;
  const double distance = std::abs(as_double(left) - as_double(right));
  if (std::isnan(distance)) return result;
  result.unordered = false;
  result.distance = distance;
  return result;
}

}  // namespace gorgo::dispatch
