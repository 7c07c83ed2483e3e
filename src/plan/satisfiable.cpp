#include "plan/satisfiable.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/arithmetic.hpp"

namespace gorgo::plan {
namespace {

/// Conditions with more constants than this are not looked at, because every constant is tried in
/// every condition.
constexpr std::size_t kMostConstants = 500;
/// When there are more conditions than this, all are named, not only those that contradict each
/// other.
constexpr std::size_t kMostConditions = 20;

bool is_comparison(Op op) { return op >= Op::equal && op <= Op::contains; }
bool is_logical(Op op) { return op >= Op::logical_and; }

bool reads(const Expr& condition, Op op) {
  if (condition.op == op) return true;
  return std::any_of(condition.args.begin(), condition.args.end(),
                     [&](const Expr& arg) { return reads(arg, op); });
}

/// False when the condition is not of the simple form, or speaks of a second attribute.
bool find_subject(const Expr& e, bool operand, std::optional<Subject>& subject) {
  if (e.op == Op::constant) return true;
  if (e.op == Op::attribute || e.op == Op::present) {
    const bool flag = e.op == Op::attribute && !operand;
    const auto type = e.op == Op::present ? std::nullopt : std::optional(e.type);
    if (flag && e.type != ValueType::boolean) return false;
    if (!subject) {
      subject = Subject{e.source, e.index, type.value_or(ValueType::boolean)};
      return true;
    }
    if (subject->source != e.source || subject->index != e.index) return false;
    if (type) subject->type = *type;
    return true;
  }
  const bool comparison = is_comparison(e.op);
  if (operand || (!comparison && !is_logical(e.op))) return false;
  return std::all_of(e.args.begin(), e.args.end(),
                     [&](const Expr& arg) { return find_subject(arg, comparison, subject); });
}

Datum operand(const Expr& e, const Datum& value) {
  return e.op == Op::constant ? to_datum(e.constant) : value;
}

bool holds(const Expr& e, const Datum& value) {
  switch (e.op) {
    case Op::logical_and:
      return holds(e.args[0], value) && holds(e.args[1], value);
    case Op::logical_or:
      return holds(e.args[0], value) || holds(e.args[1], value);
    case Op::logical_not:
      return !holds(e.args[0], value);
    case Op::present:
      return value.exists();
    case Op::constant:
    case Op::attribute: {
      const Datum flag = operand(e, value);
      return flag.exists() && flag.boolean;
    }
    default:
      return arithmetic::compare(e.op, operand(e.args[0], value), operand(e.args[1], value));
  }
}

void collect_constants(const Expr& e, std::vector<Value>& constants) {
  if (e.op == Op::constant) constants.push_back(e.constant);
  for (const Expr& arg : e.args) collect_constants(arg, constants);
}

void add_ints(const Value& constant, std::vector<Value>& values) {
  using Limits = std::numeric_limits<std::int64_t>;
  const auto add = [&](std::int64_t n) {
    values.emplace_back(n);
    if (n < Limits::max()) values.emplace_back(n + 1);
    if (n > Limits::min()) values.emplace_back(n - 1);
  };
  if (const auto* n = std::get_if<std::int64_t>(&constant)) return add(*n);
  const auto* real = std::get_if<double>(&constant);
  if (real == nullptr) return;
  for (const double whole : {std::floor(*real), std::ceil(*real)}) {
    const Datum n = arithmetic::to_int(Datum::of(whole));
    if (n.exists()) add(n.integer);
  }
}

void add_floats(const Value& constant, std::vector<Value>& values) {
  const Datum number = arithmetic::to_float(to_datum(constant));
  if (number.tag != Datum::Tag::floating) return;
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  values.emplace_back(number.floating);
  values.emplace_back(std::nextafter(number.floating, kInfinity));
  values.emplace_back(std::nextafter(number.floating, -kInfinity));
}

/// What a set of comparisons with the constants says changes from one value to the next only at a
/// constant. So these values, of which one stands at either side of each change, are enough to
/// tell whether any value satisfies the comparisons.
std::vector<Value> candidates(const std::vector<Value>& constants, ValueType type) {
  std::vector<Value> values{{}};
  switch (type) {
    case ValueType::boolean:
      values.insert(values.end(), {true, false});
      break;
    case ValueType::integer:
      values.emplace_back(std::numeric_limits<std::int64_t>::min());
      values.emplace_back(std::numeric_limits<std::int64_t>::max());
      for (const Value& constant : constants) add_ints(constant, values);
      break;
    case ValueType::floating:
      values.emplace_back(std::numeric_limits<double>::quiet_NaN());
      values.emplace_back(std::numeric_limits<double>::infinity());
      values.emplace_back(-std::numeric_limits<double>::infinity());
      for (const Value& constant : constants) add_floats(constant, values);
      break;
    case ValueType::string:
      values.emplace_back(std::string());
      for (const Value& constant : constants) {
        const auto* text = std::get_if<std::string>(&constant);
        if (text == nullptr) continue;
        values.emplace_back(*text);
        values.emplace_back(*text + '\0');  // the next one in byte order
      }
  }
  return values;
}

bool some_value_satisfies(const std::vector<const Expr*>& conditions, ValueType type) {
  std::vector<Value> constants;
  for (const Expr* condition : conditions) collect_constants(*condition, constants);
  if (constants.size() > kMostConstants) return true;
  const auto values = candidates(constants, type);
  return std::any_of(values.begin(), values.end(), [&](const Value& value) {
    const Datum datum = to_datum(value);
    return std::all_of(conditions.begin(), conditions.end(),
                       [&](const Expr* condition) { return holds(*condition, datum); });
  });
}

}  // namespace

std::optional<Subject> only_subject(const Expr& condition) {
  std::optional<Subject> subject;
  return find_subject(condition, false, subject) ? subject : std::nullopt;
}

std::vector<const Expr*> contradiction(const std::vector<const Expr*>& conditions,
                                       ValueType subject) {
  // Which texts contain another is not decided by order: with `contains`, only an equality
  // narrows the values down to those that are tried.
  std::vector<const Expr*> left;
  const bool fixed = std::any_of(conditions.begin(), conditions.end(),
                                 [](const Expr* c) { return c->op == Op::equal; });
  for (const Expr* condition : conditions) {
    if (fixed || !reads(*condition, Op::contains)) left.push_back(condition);
  }
  if (some_value_satisfies(left, subject)) return {};
  for (std::size_t i = left.size() > kMostConditions ? 0 : left.size(); i-- > 0;) {
    auto fewer = left;
    fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
    // Without its equality, what is left says nothing about `contains`.
    const bool decided = !fixed || std::any_of(fewer.begin(), fewer.end(),
                                               [](const Expr* c) { return c->op == Op::equal; });
    if (decided && !some_value_satisfies(fewer, subject)) left = std::move(fewer);
  }
  return left;
}

bool is_never(const Expr& condition) {
  std::optional<Subject> subject;
  const bool constant = find_subject(condition, false, subject) && !subject;
  return constant && !holds(condition, Datum::none());
}

}  // namespace gorgo::plan
