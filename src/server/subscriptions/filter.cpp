#include "server/subscriptions/filter.hpp"

#include <algorithm>

#include "base/arithmetic.hpp"
#include "functions/call.hpp"
#include "functions/computed_texts.hpp"
#include "language/calls.hpp"
#include "language/language.hpp"
#include "language/literal.hpp"
#include "language/operators.hpp"

namespace gorgo::server {
namespace {

using ast::ExprKind;

class Evaluation {
 public:
  Evaluation(const OutputBatch& batch, const OutputBatch::Row& row) : batch_(batch), row_(row) {}

  bool holds(const ast::Expr& e) const {
    switch (e.kind) {
      case ExprKind::logical_and:
        return holds(e.children[0]) && holds(e.children[1]);
      case ExprKind::logical_or:
        return holds(e.children[0]) || holds(e.children[1]);
      case ExprKind::logical_not:
        return !holds(e.children[0]);
      case ExprKind::literal:
      case ExprKind::attribute:
      case ExprKind::state_attribute:
      case ExprKind::call: {
        const Datum datum = value_without_brackets(e);
        return datum.tag == Datum::Tag::boolean && datum.boolean;
      }
      default:
        return compares(language::op_of(e.kind), value(e.children[0]), value(e.children[1]));
    }
  }

 private:
  const OutputBatch& batch_;
  const OutputBatch::Row& row_;

  // Checked rules never compare a number with a string; a type that nobody declared may make a
  // subscription try. Such a comparison has no value.
  static bool compares(Op op, const Datum& a, const Datum& b) {
    const auto kind = [](const Datum& d) {
      return d.tag == Datum::Tag::floating ? Datum::Tag::integer : d.tag;
    };
    return kind(a) == kind(b) && arithmetic::compare(op, a, b);
  }

  Datum value(const ast::Expr& e) const {
    return e.bracketed ? Datum::of(holds(e)) : value_without_brackets(e);
  }

  Datum value_without_brackets(const ast::Expr& e) const {
    switch (e.kind) {
      case ExprKind::literal:
      case ExprKind::duration:
        return to_datum(e.value);
      case ExprKind::attribute:
      case ExprKind::state_attribute:
        return attribute(e.name.text);
      case ExprKind::negate:
        return arithmetic::negate(value(e.children[0]));
      case ExprKind::add:
      case ExprKind::subtract:
      case ExprKind::multiply:
      case ExprKind::divide:
        return arithmetic::calculate(language::op_of(e.kind), value(e.children[0]),
                                     value(e.children[1]));
      case ExprKind::call:
        return call(e);
      default:
        return Datum::of(holds(e));
    }
  }

  /// The checked types decide what is converted; without them, the values do.
  Datum call(const ast::Expr& e) const {
    const functions::Signature& signature = *functions::find(e.name.text);
    const bool common = signature.result == functions::Gives::common;
    bool floats = e.stated_type == ValueType::floating;
    std::vector<Datum> arguments;
    for (const ast::Expr& child : e.children) {
      Datum argument = value(child);
      const functions::Parameter parameter = signature.at(arguments.size());
      if (!fits(parameter, argument)) return Datum::none();
      floats = floats || (!e.stated_type && argument.tag == Datum::Tag::floating);
      arguments.push_back(argument);
    }
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      const functions::Parameter parameter = signature.at(i);
      const bool shared = common && (parameter == functions::Parameter::number ||
                                     parameter == functions::Parameter::any);
      const bool converts = parameter == functions::Parameter::floating || (shared && floats);
      if (converts && arguments[i].tag == Datum::Tag::integer) {
        arguments[i] = arithmetic::to_float(arguments[i]);
      }
    }
    return functions::call(signature.function, arguments, e.prepared.get());
  }

  /// A type that nobody declared may have values that a function does not take.
  static bool fits(functions::Parameter parameter, const Datum& value) {
    return !value.exists() || language::fits(parameter, value.type());
  }

  Datum attribute(std::string_view name) const {
    if (name == "timestamp") return Datum::of(row_.timestamp);
    return batch_.attribute(row_, name);
  }
};

}  // namespace

Filter::Parsed Filter::parse(const std::string& text, const Schema& schema, Patterns patterns) {
  auto parsed = language::parse_predicate(text);
  if (!parsed.diagnostics.failed()) {
    for (auto& d : check_filter(parsed.predicate, schema, text, patterns).list) {
      parsed.diagnostics.list.push_back(std::move(d));
    }
  }
  Parsed result{std::nullopt, std::move(parsed.diagnostics)};
  if (result.diagnostics.failed()) return result;
  std::string action;
  if (parsed.action) {
    action = Action{
        language::lower_case(parsed.action->kind.text),
        parsed.action->target.text,
        {}}.text();
  }
  result.filter = Filter(std::move(parsed.predicate), std::move(action));
  return result;
}

bool Filter::is_about(const OutputBatch& batch, const OutputBatch::Row& row) const {
  if (type() != "*") return batch.type_name(row) == type();
  return !action_.empty() || !batch.is_internal(row);
}

bool Filter::matches(const OutputBatch& batch, const OutputBatch::Row& row) const {
  const auto executed = batch.actions(row);
  if (!action_.empty() && std::ranges::find(executed, action_) == executed.end()) return false;
  const functions::ComputedTexts texts;
  const Evaluation evaluation(batch, row);
  for (const ast::Expr& condition : predicate_.conditions) {
    if (!evaluation.holds(condition)) return false;
  }
  return true;
}

}  // namespace gorgo::server
