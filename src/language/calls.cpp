#include "language/calls.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "functions/prepared.hpp"
#include "language/aggregate_names.hpp"
#include "language/syntax.hpp"
#include "language/types.hpp"

namespace gorgo::language {
namespace {

using functions::Gives;
using functions::Parameter;
using functions::Signature;

std::string wanted(Parameter parameter) {
  switch (parameter) {
    case Parameter::number:
    case Parameter::floating:
      return "a number";
    case Parameter::integer:
      return "an int";
    case Parameter::condition:
      return "a condition";
    default:
      return "a string";
  }
}

bool is_literal(Parameter parameter) {
  return parameter == Parameter::pattern || parameter == Parameter::zone ||
         parameter == Parameter::instant;
}

/// Binds one call.
class CallBinder {
 public:
  CallBinder(const ast::Expr& call, const Signature& signature, Reporter& reporter,
             functions::PatternRoom* room)
      : call_(call), signature_(signature), reporter_(reporter), room_(room) {}

  Bound bind(std::vector<Operand> arguments) {
    if (!check_count(arguments.size())) return std::nullopt;
    bool complete = true;
    for (std::size_t i = 0; i < arguments.size(); ++i) complete &= check(arguments[i], i);
    if (!complete) return std::nullopt;
    if (signature_.function == Function::time) return instant(arguments[0]);
    Expr result = make_operation(Op::call, ValueType::boolean, {});
    result.function = signature_.function;
    if (!prepare(arguments, result)) return std::nullopt;
    const auto type = result_type(arguments);
    if (!type) return std::nullopt;
    result.type = *type;
    std::vector<Expr> args;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      const bool floats = signature_.at(i) == Parameter::floating ||
                          (is_shared(i) && result.type == ValueType::floating);
      Expr& argument = *arguments[i].bound;
      args.push_back(floats ? as_float(std::move(argument)) : std::move(argument));
    }
    result.args = std::move(args);
    return result;
  }

 private:
  std::string name() const { return in_quotes(signature_.name); }

  bool check_count(std::size_t count) {
    if (count >= signature_.required && count <= signature_.most()) return true;
    reporter_.error(call_.at,
                    name() + " does not take " + std::to_string(count) +
                        (count == 1 ? " argument" : " arguments"),
                    "write " + in_quotes(signature_.usage) + aggregate());
    return false;
  }

  /// Says how the aggregate is written that has the name of the function.
  std::string aggregate() const {
    if (!aggregate_function(std::string(signature_.name))) return {};
    return "; for events write " +
           in_quotes(std::string(signature_.name) + "(Type(...).attribute within ... from ...)");
  }

  bool check(const Operand& argument, std::size_t position) {
    if (!argument.bound) return false;
    const Parameter parameter = signature_.at(position);
    const ValueType type = argument.bound->type;
    if (!fits(parameter, type)) {
      reporter_.error(argument.written.at,
                      show(argument.written) + " is " + std::string(gorgo::to_string(type)) +
                          ", but " + name() + " takes " + wanted(parameter) + " here",
                      "write " + in_quotes(signature_.usage));
      return false;
    }
    if (!is_literal(parameter) || argument.written.kind == ast::ExprKind::literal) return true;
    reporter_.error(argument.written.at, name() + " takes a literal string here",
                    "it is read once, when the rule is deployed");
    return false;
  }

  /// Whether the argument shares the type of the result with others.
  bool is_shared(std::size_t position) const {
    const Parameter parameter = signature_.at(position);
    return signature_.result == Gives::common &&
           (parameter == Parameter::number || parameter == Parameter::any);
  }

  std::optional<ValueType> result_type(const std::vector<Operand>& arguments) {
    switch (signature_.result) {
      case Gives::integer:
        return ValueType::integer;
      case Gives::floating:
        return ValueType::floating;
      case Gives::boolean:
        return ValueType::boolean;
      case Gives::text:
        return ValueType::string;
      case Gives::same:
        return arguments[0].bound->type;
      case Gives::common:
        break;
    }
    return common_type(arguments);
  }

  std::optional<ValueType> common_type(const std::vector<Operand>& arguments) {
    std::optional<ValueType> common;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      if (!is_shared(i)) continue;
      const ValueType type = arguments[i].bound->type;
      if (!common || (is_number(*common) && type == ValueType::floating)) {
        common = type;
      } else if (*common != type && !(is_number(*common) && is_number(type))) {
        reporter_.error(arguments[i].written.at,
                        show(arguments[i].written) + " is " + std::string(gorgo::to_string(type)) +
                            ", but an argument before is " + std::string(gorgo::to_string(*common)),
                        "the values of " + name() + " have one type; int and float mix");
        return std::nullopt;
      }
    }
    return common;
  }

  bool prepare(const std::vector<Operand>& arguments, Expr& result) {
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      if (!is_literal(signature_.at(i))) continue;
      const ast::Expr& literal = arguments[i].written;
      auto prepared = functions::prepare(signature_.function, signature_.at(i),
                                         std::get<std::string>(literal.value), room_);
      if (!prepared) return refuse(literal, prepared.error());
      result.prepared = std::make_shared<const functions::Prepared>(std::move(*prepared));
    }
    return true;
  }

  Bound instant(const Operand& literal) {
    const auto time = functions::instant_of(std::get<std::string>(literal.written.value));
    if (time) return make_constant(*time);
    refuse(literal.written, time.error());
    return std::nullopt;
  }

  bool refuse(const ast::Expr& literal, const Error& error) {
    reporter_.error(literal.at, error.message, error.hint);
    return false;
  }

  const ast::Expr& call_;
  const Signature& signature_;
  Reporter& reporter_;
  functions::PatternRoom* const room_;  // null: no bound
};

}  // namespace

bool fits(Parameter parameter, ValueType type) {
  switch (parameter) {
    case Parameter::number:
    case Parameter::floating:
      return is_number(type);
    case Parameter::integer:
      return type == ValueType::integer;
    case Parameter::condition:
      return type == ValueType::boolean;
    case Parameter::any:
      return true;
    default:
      return type == ValueType::string;
  }
}

Bound make_call(const ast::Expr& call, std::vector<Operand> arguments, Reporter& reporter,
                functions::PatternRoom* room) {
  const Signature* const signature = functions::find(call.name.text);
  if (signature == nullptr) return std::nullopt;
  return CallBinder(call, *signature, reporter, room).bind(std::move(arguments));
}

}  // namespace gorgo::language
