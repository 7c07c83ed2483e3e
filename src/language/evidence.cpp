#include "language/evidence.hpp"

#include <algorithm>
#include <variant>

#include "language/syntax.hpp"

namespace gorgo::language {

using ast::ExprKind;

void EvidenceCollector::collect() {
  for (const auto& attribute : rule_.attributes) {
    targets_.emplace(attribute.name.text, attribute.type);
  }
  std::uint32_t state = 0;
  const auto in_state = [&](const ast::Predicate& p) {
    predicate(p, {Context::Kind::state, scope_.states()[state].type, state});
  };
  if (const auto* p = std::get_if<ast::Predicate>(&rule_.terminator)) in_state(*p);
  if (rule_.every) {
    const Context own{Context::Kind::state, scope_.states()[0].type, 0};
    for (const auto& key : rule_.every->per) term(key, own);
  }
  for (const auto& clause : rule_.clauses) {
    if (const auto* next = std::get_if<ast::StateClause>(&clause)) {
      ++state;
      in_state(next->predicate);
      const Context own{Context::Kind::state, scope_.states()[state].type, state};
      for (const auto& key : next->per) term(key, own);
    } else if (const auto* negation = std::get_if<ast::NegationClause>(&clause)) {
      predicate(negation->predicate,
                {Context::Kind::negation, types_.mention(negation->predicate.type.text)});
    } else if (const auto* binding = std::get_if<ast::AggregateBinding>(&clause)) {
      const Term left = binding->left ? term(*binding->left, {}) : Term{};
      const Term right = aggregate(*binding->aggregate);
      if (binding->left) relate(left, right, binding->at);
    } else {
      condition(std::get<ast::FilterClause>(clause).condition, {});
    }
  }
  for (const auto& assigned : rule_.assignments) assignment(assigned);
}

void EvidenceCollector::predicate(const ast::Predicate& predicate, Context context) {
  TypeEntry& entry = types_.at(context.own_type);
  if (entry.uses++ == 0) entry.used_at = predicate.type.at;
  for (std::size_t i = 0; i < entry.members.size(); ++i) {
    TypeEntry& member = types_.at(entry.members[i]);
    if (member.uses++ == 0) member.used_at = predicate.type.at;
  }
  for (const auto& expr : predicate.conditions) condition(expr, context);
}

void EvidenceCollector::condition(const ast::Expr& expr, const Context& context) {
  if (expr.kind == ExprKind::logical_and || expr.kind == ExprKind::logical_or) {
    for (const ast::Expr* operand : chain(expr)) condition(*operand, context);
  } else if (expr.kind == ExprKind::logical_not) {
    condition(expr.children[0], context);
  } else if (is_comparison(expr.kind) || expr.kind == ExprKind::bind) {
    comparison(expr, context);
  } else {
    demand(term(expr, context), ValueType::boolean, expr.at, "as a condition");
  }
}

void EvidenceCollector::comparison(const ast::Expr& expr, const Context& context) {
  const Term left = term(expr.children[0], context);
  const Term right = term(expr.children[1], context);
  if (expr.stated_type) demand(left, *expr.stated_type, expr.at, "as stated in brackets");
  if (expr.kind == ExprKind::contains) {
    demand(left, ValueType::string, expr.at, "as an operand of `contains`");
    demand(right, ValueType::string, expr.at, "as an operand of `contains`");
  } else {
    relate(left, right, expr.at);
  }
}

void EvidenceCollector::assignment(const ast::Assignment& assignment) {
  const Term value = term(assignment.value, {Context::Kind::where});
  if (value.kind != Term::Kind::open) return;
  const auto target = targets_.find(assignment.attribute.text);
  if (target == targets_.end()) return inference_.taint(value.node);
  demand(value, target->second, assignment.attribute.at, "as `where` assigns it");
}

void EvidenceCollector::demand(const Term& term, ValueType type, Location at,
                               std::string_view why) {
  if (term.kind == Term::Kind::open) inference_.strong(term.node, type, at, why);
}

void EvidenceCollector::relate(const Term& a, const Term& b, Location at) {
  if (a.kind != Term::Kind::open) {
    if (b.kind == Term::Kind::open) relate(b, a, at);
    return;
  }
  const bool linked = b.reference && (a.parameter || b.parameter);
  switch (b.kind) {
    case Term::Kind::wrong:
      return inference_.taint(a.node);
    case Term::Kind::number:
      return inference_.number(a.node, at);
    case Term::Kind::open:
      return linked ? inference_.unite(a.node, b.node, at) : inference_.alike(a.node, b.node);
    case Term::Kind::given:
      break;
  }
  const bool number = b.type == ValueType::integer || b.type == ValueType::floating;
  if (number && !b.literal && !linked) return inference_.number(a.node, at);
  inference_.strong(a.node, b.type, at,
                    b.literal ? "as the literal"
                    : linked  ? "as the parameter"
                              : "as what it is compared with");
}

EvidenceCollector::Term EvidenceCollector::term(const ast::Expr& expr, const Context& context) {
  const Term result = plain_term(expr, context);
  if (expr.stated_type) demand(result, *expr.stated_type, expr.at, "as stated in brackets");
  return result;
}

EvidenceCollector::Term EvidenceCollector::plain_term(const ast::Expr& expr,
                                                      const Context& context) {
  switch (expr.kind) {
    case ExprKind::literal:
      return literal(expr.value);
    case ExprKind::duration:
      return {};
    case ExprKind::attribute:
    case ExprKind::state_attribute:
    case ExprKind::parameter:
      return reference(expr, context);
    case ExprKind::aggregate:
      return aggregate(*expr.aggregate);
    case ExprKind::call:
      return call(expr, context);
    default:
      return operation(expr, context);
  }
}

EvidenceCollector::Term EvidenceCollector::literal(const Value& value) const {
  if (!has_value(value) || type_of(value) == ValueType::integer) return {};
  Term term{Term::Kind::given};
  term.type = type_of(value);
  term.literal = true;
  return term;
}

EvidenceCollector::Term EvidenceCollector::reference(const ast::Expr& expr,
                                                     const Context& context) {
  const Resolution resolution = scope_.resolve(expr, context);
  if (std::holds_alternative<Unresolved>(resolution)) return {Term::Kind::wrong};
  Term term;
  if (const auto* total = std::get_if<const ast::AggregateBinding*>(&resolution)) {
    term = aggregate_value(*(*total)->aggregate);
  } else {
    const auto& meaning = std::get<Reference>(resolution);
    if (meaning.is_time()) return {};
    if (meaning.type == kNoEntry) return {Term::Kind::wrong};
    term = attribute(meaning.type, meaning.attribute, expr.at);
    term.parameter = expr.kind == ExprKind::parameter;
  }
  term.reference = true;
  return term;
}

EvidenceCollector::Term EvidenceCollector::attribute(TypeIndex type, std::string_view name,
                                                     Location at) {
  if (name == "timestamp") return {Term::Kind::wrong};
  if (const auto node = inference_.node(type, name, at)) return {Term::Kind::open, *node};
  const TypeEntry& entry = types_.at(type);
  const auto index = entry.find(name);
  if (!index) return {Term::Kind::wrong};
  return {Term::Kind::given, 0, entry.type.attributes[*index].type};
}

EvidenceCollector::Term EvidenceCollector::aggregate(const ast::AggregateCall& call) {
  const TypeIndex type = types_.mention(call.predicate.type.text);
  predicate(call.predicate, {Context::Kind::aggregate, type});
  if (call.attribute && !takes_any_type(call.function)) {
    const Term value = attribute(type, call.attribute->text, call.attribute->at);
    if (value.kind == Term::Kind::open) inference_.number(value.node, call.attribute->at);
  }
  return aggregate_value(call);
}

/// SUM, MIN, MAX, FIRST and LAST have the type of their attribute, so what is said about them is
/// said about it.
EvidenceCollector::Term EvidenceCollector::aggregate_value(const ast::AggregateCall& call) {
  const bool has_own_type = own_type(call.function).has_value();
  if (has_own_type && call.attribute) {
    attribute(types_.mention(call.predicate.type.text), call.attribute->text, call.attribute->at);
  }
  if (has_own_type || !call.attribute) return {};
  return attribute(types_.mention(call.predicate.type.text), call.attribute->text,
                   call.attribute->at);
}

EvidenceCollector::Term EvidenceCollector::call(const ast::Expr& expr, const Context& context) {
  using functions::Gives;
  const functions::Signature* const signature = functions::find(expr.name.text);
  Term shared;  // by the arguments that have one type
  bool is_first = true;
  for (std::size_t i = 0; i < expr.children.size(); ++i) {
    const auto parameter = signature == nullptr ? functions::Parameter::any : signature->at(i);
    const Term given = argument(parameter, expr.children[i], expr, context);
    const bool shares = signature != nullptr && signature->result == Gives::common &&
                        parameter == functions::Parameter::any;
    if (!shares) continue;
    if (is_first) {
      shared = given;
    } else {
      relate(shared, given, expr.at);
    }
    is_first = false;
  }
  if (signature == nullptr) return {Term::Kind::wrong};
  if (signature->result != Gives::text && signature->result != Gives::boolean) return shared;
  Term result{Term::Kind::given};
  result.type = signature->result == Gives::text ? ValueType::string : ValueType::boolean;
  return result;
}

/// What an argument's place says about it.
EvidenceCollector::Term EvidenceCollector::argument(functions::Parameter parameter,
                                                    const ast::Expr& argument,
                                                    const ast::Expr& call, const Context& context) {
  using functions::Parameter;
  if (parameter == Parameter::condition) {
    condition(argument, context);
    return {};
  }
  const Term value = term(argument, context);
  if (value.kind != Term::Kind::open || parameter == Parameter::any) return value;
  if (parameter == Parameter::number || parameter == Parameter::floating) {
    inference_.number(value.node, argument.at);
  } else {
    const bool whole = parameter == Parameter::integer;
    inference_.strong(value.node, whole ? ValueType::integer : ValueType::string, call.at,
                      "as a function takes it");
  }
  return value;
}

EvidenceCollector::Term EvidenceCollector::operation(const ast::Expr& expr,
                                                     const Context& context) {
  if (!is_arithmetic(expr.kind) && expr.kind != ExprKind::negate) {
    condition(expr, context);
    Term term{Term::Kind::given};
    term.type = ValueType::boolean;
    return term;
  }
  if (expr.kind == ExprKind::negate && expr.children[0].kind == ExprKind::literal) {
    return literal(expr.children[0].value);
  }
  bool wrong = false;
  for (const auto& child : expr.children) {
    const Term operand = term(child, context);
    if (operand.kind == Term::Kind::open) inference_.number(operand.node, child.at);
    wrong |= operand.kind == Term::Kind::wrong;
  }
  return wrong ? Term{Term::Kind::wrong} : Term{};
}

}  // namespace gorgo::language
