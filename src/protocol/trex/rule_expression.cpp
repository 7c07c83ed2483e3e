#include <algorithm>
#include <utility>

#include "protocol/trex/rule_writer.hpp"

/// Expressions, and the conditions that parameters make of them.
namespace gorgo::protocol::trex {
namespace {

/// Nothing for what the language does not have.
std::string_view operation_text(Operation operation) {
  switch (operation) {
    case Operation::add:
      return " + ";
    case Operation::sub:
      return " - ";
    case Operation::mul:
      return " * ";
    case Operation::div:
      return " / ";
    case Operation::conj:
    case Operation::disj:
      break;
  }
  return {};
}

std::string_view function_text(Function function) {
  switch (function) {
    case Function::avg:
      return "avg";
    case Function::count:
      return "count";
    case Function::min:
      return "min";
    case Function::max:
      return "max";
    case Function::sum:
      return "sum";
    case Function::none:
      break;
  }
  return {};
}

}  // namespace

/// Finds in the tree what `part` of the rule is restricted. Of several states that is the last one,
/// when all of them are bound; of negations and aggregates there can be only one.
void RuleWriter::find_owner(const Tree& tree, Part part, Owner& owner) {
  if (const auto* inner = std::get_if<Tree::Inner>(&tree.node)) {
    for (const Tree& operand : inner->operands) find_owner(operand, part, owner);
  }
  const auto* reference = std::get_if<Reference>(&tree.node);
  if (reference == nullptr || reference->part != part) return;
  const bool other = owner.index >= 0 && owner.index != reference->index;
  if (part != Part::state && other) {
    fail("has a parameter for two negations or two aggregates");
  }
  owner.index = std::max(owner.index, reference->index);
}

RuleWriter::Owner RuleWriter::owner_of(const Parameter& parameter) {
  Owner owner{parameter.part, -1};
  find_owner(parameter.left, parameter.part, owner);
  find_owner(parameter.right, parameter.part, owner);
  const std::size_t size = parameter.part == Part::state      ? rule_.predicates.size()
                           : parameter.part == Part::negation ? rule_.negations.size()
                                                              : rule_.aggregates.size();
  if (owner.index < 0 || static_cast<std::size_t>(owner.index) >= size) {
    fail("has a parameter that restricts nothing of it");
  }
  return owner;
}

void RuleWriter::place(const Parameter& parameter) {
  const Owner owner = owner_of(parameter);
  std::string condition;
  const auto* own = std::get_if<Reference>(&parameter.left.node);
  if (own != nullptr && own->part == owner.part && own->index == owner.index) {
    // What the rule's author wrote in brackets before the attribute.
    condition = "[" + std::string(to_string(parameter.left.type)) + "]";
  }
  condition += expression(parameter.left, owner);
  condition += comparison_text(parameter.comparison);
  condition += expression(parameter.right, owner);
  restricted_[owner].push_back(std::move(condition));
}

std::string RuleWriter::expression(const Tree& tree, Owner owner) {
  if (const auto* value = std::get_if<Literal>(&tree.node)) return take(literal_text(*value));
  if (const auto* reference = std::get_if<Reference>(&tree.node)) {
    return this->reference(*reference, owner);
  }
  const auto& inner = std::get<Tree::Inner>(tree.node);
  const auto operation = operation_text(inner.operation);
  if (operation.empty()) return fail("has `&` or `|` in an expression, where only numbers may be");
  return "(" + expression(inner.operands[0], owner) + std::string(operation) +
         expression(inner.operands[1], owner) + ")";
}

std::string RuleWriter::reference(const Reference& reference, Owner owner) {
  const bool value = reference.part == Part::aggregate && reference.attribute.empty();
  const bool in_brackets = owner.index >= 0;
  if (value && !in_brackets) return aggregate(reference.index);
  if (value) return fail("has an aggregate within a condition");
  const std::string attribute = take(attribute_text(reference.attribute));
  const bool own = reference.part == owner.part && reference.index == owner.index;
  if (in_brackets && own) return attribute;
  if (reference.part == Part::state) return state_name(reference.index) + "." + attribute;
  return fail("refers to an event of a negation or an aggregate outside of it");
}

std::string RuleWriter::state_name(std::int32_t index) {
  if (is_state(index)) return states_[static_cast<std::size_t>(index)];
  return fail("refers to a state " + std::to_string(index) + ", which it does not have");
}

std::string RuleWriter::aggregate(std::int32_t index) {
  if (index < 0 || static_cast<std::size_t>(index) >= rule_.aggregates.size()) {
    return fail("refers to an aggregate " + std::to_string(index) + ", which it does not have");
  }
  const auto& aggregate = rule_.aggregates[static_cast<std::size_t>(index)];
  const auto function = function_text(aggregate.function);
  if (function.empty()) return fail("has an aggregate without a function");
  std::string text = std::string(function) + "(" +
                     predicate(aggregate.type, aggregate.constraints, {Part::aggregate, index});
  // T-Rex counts events, whether or not they have the attribute.
  if (aggregate.function != Function::count)
    text += "." + take(attribute_text(aggregate.attribute));
  return text + span(aggregate.span) + ")";
}

}  // namespace gorgo::protocol::trex
