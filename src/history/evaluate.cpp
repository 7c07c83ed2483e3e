#include "history/evaluate.hpp"

#include <algorithm>
#include <boost/container/small_vector.hpp>

#include "base/arithmetic.hpp"
#include "functions/call.hpp"
#include "functions/computed_texts.hpp"

namespace gorgo::history {
namespace {

EventRef event_of(const Expr& expr, const Scope& scope) {
  if (expr.source == kCandidate) return scope.candidate;
  return scope.states[static_cast<std::size_t>(expr.source)];
}

Datum evaluate_call(const Expr& call, const Scope& scope) {
  boost::container::small_vector<Datum, 4> arguments;
  for (const Expr& argument : call.args) arguments.push_back(evaluate(argument, scope));
  return functions::call(call.function, arguments, call.prepared.get());
}

/// A call whose value refers to no text that it computes.
Datum evaluate_plain_call(const Expr& call, const Scope& scope) {
  const functions::ComputedTexts texts;
  return evaluate_call(call, scope);
}

bool compare(const Expr& comparison, const Scope& scope) {
  return arithmetic::compare(comparison.op, evaluate(comparison.args[0], scope),
                             evaluate(comparison.args[1], scope));
}

bool compare_computed_texts(const Expr& comparison, const Scope& scope) {
  const functions::ComputedTexts texts;
  return compare(comparison, scope);
}

}  // namespace

Datum evaluate_tree(const Expr& expr, const Scope& scope) {
  const auto arg = [&](std::size_t i) { return evaluate(expr.args[i], scope); };
  switch (expr.op) {
    case Op::constant:
      return to_datum(expr.constant);
    case Op::timestamp:
      return Datum::of(event_of(expr, scope).timestamp());
    case Op::attribute:
    case Op::aggregate:
      return evaluate(expr, scope);
    case Op::present: {
      const EventRef event = event_of(expr, scope);
      return Datum::of(event.store->attribute(event.slot, expr.index).exists());
    }
    case Op::call:
      return expr.type == ValueType::string ? evaluate_call(expr, scope)
                                            : evaluate_plain_call(expr, scope);
    case Op::negate:
      return arithmetic::negate(arg(0));
    case Op::add:
    case Op::subtract:
    case Op::multiply:
    case Op::divide:
      return arithmetic::calculate(expr.op, arg(0), arg(1));
    case Op::to_float:
      return arithmetic::to_float(arg(0));
    case Op::to_int:
      return arithmetic::to_int(arg(0));
    case Op::equal:
    case Op::not_equal:
    case Op::less:
    case Op::less_equal:
    case Op::greater:
    case Op::greater_equal:
    case Op::contains:
      return Datum::of(expr.args[0].op == Op::call || expr.args[1].op == Op::call
                           ? compare_computed_texts(expr, scope)
                           : compare(expr, scope));
    case Op::logical_and:
      return Datum::of(all_hold(expr.args, scope));
    case Op::logical_or:
      return Datum::of(std::any_of(expr.args.begin(), expr.args.end(),
                                   [&](const Expr& e) { return holds(e, scope); }));
    case Op::logical_not:
      return Datum::of(!holds(expr.args[0], scope));
  }
  return Datum::none();
}

}  // namespace gorgo::history
