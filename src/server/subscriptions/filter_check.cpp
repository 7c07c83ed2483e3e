#include "functions/catalogue.hpp"
#include "language/calls.hpp"
#include "language/language.hpp"
#include "language/reporter.hpp"
#include "language/server_types.hpp"
#include "server/subscriptions/filter.hpp"

namespace gorgo::server {
namespace {

using ast::Expr;
using ast::ExprKind;
using functions::Gives;
using language::Bound;

bool is_number(ValueType type) { return type == ValueType::integer || type == ValueType::floating; }

std::string spelled(ValueType type) { return std::string(to_string(type)); }

/// Finds the value types of expressions, bottom up; none where only the events can tell.
class Checker {
 public:
  using Type = std::optional<ValueType>;

  /// `room`: of patterns; null: no bound.
  Checker(const ast::Predicate& predicate, const Schema& schema, language::Reporter& reporter,
          functions::PatternRoom* room)
      : predicate_(predicate),
        type_(schema.find(predicate.type.text)),
        reporter_(reporter),
        room_(room) {
    // The server's own types become known when a rule reads them.
    if (type_ == nullptr) type_ = language::server_type(predicate.type.text);
  }

  void condition(Expr& e) {
    const Type type = type_of(e);
    if (type && *type != ValueType::boolean) {
      error(e.at, "a condition is a comparison or a bool attribute, not a value of type " +
                      spelled(*type));
    }
  }

 private:
  const ast::Predicate& predicate_;
  const EventType* type_;  // null: unknown, or any
  language::Reporter& reporter_;
  functions::PatternRoom* const room_;

  void error(const Location& at, std::string message, std::string hint = "") {
    reporter_.error(at, std::move(message), std::move(hint));
  }

  /// Marks brackets as those of a condition only where it is known to be one.
  Type type_of(Expr& e) {
    const Type type = type_in_brackets(e);
    e.bracketed = e.bracketed && type == ValueType::boolean;
    return type;
  }

  Type type_in_brackets(Expr& e) {
    switch (e.kind) {
      case ExprKind::literal:
      case ExprKind::duration:
        return gorgo::type_of(e.value);
      case ExprKind::attribute:
        return attribute(e);
      case ExprKind::state_attribute:
        return state_attribute(e);
      case ExprKind::call:
        return call(e);
      case ExprKind::parameter:
      case ExprKind::bind:
      case ExprKind::aggregate:
        error(e.at, "parameters and aggregates have no meaning in a subscription",
              "compare attributes with constants or with each other");
        return std::nullopt;
      case ExprKind::negate:
      case ExprKind::add:
      case ExprKind::subtract:
      case ExprKind::multiply:
      case ExprKind::divide:
        return arithmetic(e);
      case ExprKind::logical_and:
      case ExprKind::logical_or:
      case ExprKind::logical_not:
        for (Expr& child : e.children) condition(child);
        return ValueType::boolean;
      default:
        comparison(e);
        return ValueType::boolean;
    }
  }

  /// Where only the events can tell the type of an argument, any that fits stands for it.
  Type call(Expr& e) {
    const functions::Signature* const signature = functions::find(e.name.text);
    if (signature == nullptr) return std::nullopt;
    std::vector<language::Operand> arguments;
    bool known = true;
    for (std::size_t i = 0; i < e.children.size(); ++i) {
      const Type type = type_of(e.children[i]);
      const bool decides = signature->result == Gives::same || signature->result == Gives::common;
      known = known && (type || !decides);
      const Type stands_for = type ? type : fitting(*signature, i, arguments);
      arguments.push_back({e.children[i], gorgo::Expr{.op = Op::attribute, .type = *stands_for}});
    }
    const auto bound = language::make_call(e, std::move(arguments), reporter_, room_);
    if (!bound) return std::nullopt;
    e.prepared = bound->prepared;
    if (bound->op == Op::constant) {
      e = Expr{.kind = ExprKind::literal, .at = e.at, .value = bound->constant};
    } else if (known) {
      e.stated_type = bound->type;
    }
    return known ? Type(bound->type) : std::nullopt;
  }

  static ValueType fitting(const functions::Signature& signature, std::size_t position,
                           const std::vector<language::Operand>& before) {
    if (position >= signature.most()) return ValueType::string;
    switch (signature.at(position)) {
      case functions::Parameter::number:
      case functions::Parameter::floating:
        return ValueType::floating;
      case functions::Parameter::integer:
        return ValueType::integer;
      case functions::Parameter::condition:
        return ValueType::boolean;
      case functions::Parameter::any:
        return before.empty() ? ValueType::floating : before.back().bound->type;
      default:
        return ValueType::string;
    }
  }

  Type attribute(const Expr& e) {
    if (e.name.text == "timestamp") return ValueType::integer;
    if (type_ == nullptr) return e.stated_type;
    const auto index = type_->find(e.name.text);
    if (!index) return unknown_attribute(e);
    return type_->attributes[*index].type;
  }

  /// Events of an inferred type may carry attributes that no rule reads.
  Type unknown_attribute(const Expr& e) {
    std::vector<std::string> names;
    for (const auto& a : type_->attributes) names.push_back(a.name);
    std::string hint = reporter_.suggest(e.name.text, names, declaration_of(*type_));
    const std::string type = language::in_quotes(type_->name);
    const std::string attribute = language::in_quotes(e.name.text);
    if (type_->strict() || language::is_server_name(type_->name)) {
      error(e.name.at, type + " has no attribute " + attribute, std::move(hint));
      return std::nullopt;
    }
    reporter_.warning(e.name.at,
                      "no rule reads " + attribute + " of " + type + ", but events may have it",
                      std::move(hint));
    return e.stated_type;
  }

  Type state_attribute(const Expr& e) {
    const bool own = e.qualifier.text == predicate_.type.text ||
                     (predicate_.alias && e.qualifier.text == predicate_.alias->text);
    if (own) return attribute(e);
    error(e.qualifier.at, language::in_quotes(e.qualifier.text) + " is not the event subscribed to",
          "a subscription sees one event; name its attributes alone");
    return std::nullopt;
  }

  Type arithmetic(Expr& e) {
    bool has_float = false;
    bool known = true;
    for (Expr& child : e.children) {
      const Type type = type_of(child);
      if (type && !is_number(*type)) {
        error(child.at, "arithmetic on a value of type " + spelled(*type));
        return std::nullopt;
      }
      known = known && type.has_value();
      has_float = has_float || type == ValueType::floating;
    }
    if (has_float) return ValueType::floating;
    return known ? Type(ValueType::integer) : std::nullopt;
  }

  void comparison(Expr& e) {
    const Type left = type_of(e.children[0]);
    const Type right = type_of(e.children[1]);
    if (e.stated_type && left && *e.stated_type != *left) {
      error(e.at, "stated to be " + spelled(*e.stated_type) + ", but of type " + spelled(*left));
    }
    if (left && right && *left != *right && !(is_number(*left) && is_number(*right))) {
      error(e.at, "cannot compare " + spelled(*left) + " with " + spelled(*right));
      return;
    }
    for (const Type& type : {left, right}) {
      if (!type) continue;
      const bool ordering = e.kind != ExprKind::equal && e.kind != ExprKind::not_equal &&
                            e.kind != ExprKind::contains;
      const bool wrong = e.kind == ExprKind::contains ? *type != ValueType::string
                                                      : ordering && *type == ValueType::boolean;
      if (wrong) return error(e.at, "this comparison is not defined for " + spelled(*type));
    }
  }
};

}  // namespace

Diagnostics check_filter(ast::Predicate& predicate, const Schema& schema, const std::string& text,
                         Filter::Patterns patterns) {
  language::Reporter reporter("subscription", text);
  functions::PatternRoom room;
  Checker checker(predicate, schema, reporter,
                  patterns == Filter::Patterns::small ? &room : nullptr);
  for (Expr& condition : predicate.conditions) checker.condition(condition);
  return reporter.take();
}

}  // namespace gorgo::server
