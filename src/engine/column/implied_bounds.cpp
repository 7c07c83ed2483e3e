#include "engine/column/implied_bounds.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "plan/plan.hpp"

namespace gorgo::engine {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// The next two go further out than any rounding error of one operation. An unknown end becomes
/// infinite.
double below(double x) {
  if (std::isnan(x)) return -kInfinity;
  return std::nextafter(std::nextafter(x, -kInfinity), -kInfinity);
}
double above(double x) {
  if (std::isnan(x)) return kInfinity;
  return std::nextafter(std::nextafter(x, kInfinity), kInfinity);
}

}  // namespace

ImpliedBounds::Interval ImpliedBounds::sum(Interval a, Interval b) {
  return {below(a.low + b.low), above(a.high + b.high)};
}

ImpliedBounds::Interval ImpliedBounds::difference(Interval a, Interval b) {
  return {below(a.low - b.high), above(a.high - b.low)};
}

ImpliedBounds::Interval ImpliedBounds::product(Interval a, Interval b) {
  Interval result{kInfinity, -kInfinity};
  for (const double x : {a.low, a.high}) {
    for (const double y : {b.low, b.high}) {
      result.low = std::min(result.low, below(x * y));
      result.high = std::max(result.high, above(x * y));
    }
  }
  return result;
}

ImpliedBounds::Interval ImpliedBounds::quotient(Interval a, Interval b) {
  if (b.low <= 0 && b.high >= 0) return {-kInfinity, kInfinity};
  Interval result{kInfinity, -kInfinity};
  for (const double x : {a.low, a.high}) {
    for (const double y : {b.low, b.high}) {
      result.low = std::min(result.low, below(x / y));
      result.high = std::max(result.high, above(x / y));
    }
  }
  return result;
}

ImpliedBounds::Interval ImpliedBounds::square_of(Interval a) {
  return {0, std::max(above(a.low * a.low), above(a.high * a.high))};
}

ImpliedBounds::Interval ImpliedBounds::root_of(Interval a) {
  if (a.high < 0) return {kInfinity, -kInfinity};
  const double root = above(std::sqrt(a.high));
  return {-root, root};
}

/// The results that may have been rounded into the interval.
ImpliedBounds::Interval ImpliedBounds::relaxed(Interval a) { return {below(a.low), above(a.high)}; }

std::optional<ImpliedBounds> ImpliedBounds::of(const Expr& condition) {
  const bool compares =
      condition.op == Op::equal || (condition.op >= Op::less && condition.op <= Op::greater_equal);
  if (!compares || condition.args[0].type != ValueType::floating ||
      condition.args[1].type != ValueType::floating) {
    return std::nullopt;
  }
  ImpliedBounds compiled;
  compiled.op_ = condition.op;
  const auto left = compiled.add(condition.args[0]);
  const auto right = compiled.add(condition.args[1]);
  if (!left || !right) return std::nullopt;
  compiled.left_ = *left;
  compiled.right_ = *right;
  if (!compiled.choose_attribute()) return std::nullopt;
  return compiled;
}

std::uint32_t ImpliedBounds::add_node(Node node) {
  nodes_.push_back(node);
  return static_cast<std::uint32_t>(nodes_.size() - 1);
}

std::optional<std::uint32_t> ImpliedBounds::add(const Expr& expr) {
  if (!plan::mentions_candidate(expr)) {
    return add_node({.kind = Kind::constant, .expr = &expr});
  }
  if (expr.type != ValueType::floating) return std::nullopt;
  if (expr.op == Op::attribute) {
    return add_node({.kind = Kind::attribute, .attribute = expr.index});
  }
  if (expr.op != Op::to_float) return add_operation(expr);
  if (expr.args[0].type == ValueType::floating) return add(expr.args[0]);
  return add_node({.kind = Kind::number});
}

std::optional<std::uint32_t> ImpliedBounds::add_operation(const Expr& expr) {
  Kind kind = Kind::negate;
  switch (expr.op) {
    case Op::add:
      kind = Kind::add;
      break;
    case Op::subtract:
      kind = Kind::subtract;
      break;
    case Op::multiply:
      kind = plan::fingerprint(expr.args[0]) == plan::fingerprint(expr.args[1]) ? Kind::square
                                                                                : Kind::multiply;
      break;
    case Op::divide:
      kind = Kind::divide;
      break;
    case Op::negate:
      break;
    default:
      return std::nullopt;
  }
  const auto a = add(expr.args[0]);
  const bool unary = kind == Kind::square || kind == Kind::negate;
  const auto b = unary ? a : add(expr.args[1]);
  if (!a || !b) return std::nullopt;
  return add_node({.kind = kind, .a = *a, .b = *b});
}

/// Chooses the first attribute that has both bounds if every constant is 1.
bool ImpliedBounds::choose_attribute() {
  propagate([](const Expr&) { return 1.0; });
  for (const Node& node : nodes_) {
    if (node.kind != Kind::attribute) continue;
    const Interval interval = interval_of(node.attribute);
    if (!std::isfinite(interval.low) || !std::isfinite(interval.high)) continue;
    attribute_ = node.attribute;
    return true;
  }
  return false;
}

void ImpliedBounds::restrict(history::RangeIndex::Bounds& bounds, const history::Scope& scope) {
  bool known = true;
  propagate([&](const Expr& expr) {
    const Datum value = history::evaluate(expr, scope);
    known = known && value.tag == Datum::Tag::floating && !std::isnan(value.floating);
    return value.tag == Datum::Tag::floating ? value.floating : 0.0;
  });
  // Nothing passes if a constant has no value or is a NaN.
  const Interval interval = known ? interval_of(attribute_) : Interval{kInfinity, -kInfinity};
  bounds.restrict_to(Op::greater_equal, Datum::of(interval.low));
  bounds.restrict_to(Op::less_equal, Datum::of(interval.high));
}

template <class ValueOf>
void ImpliedBounds::propagate(ValueOf&& value_of) {
  for (Node& node : nodes_) {
    if (node.kind == Kind::constant) {
      const double value = value_of(*node.expr);
      node.interval = {value, value};
    } else {
      node.interval = forward(node);
    }
  }
  compare();
  std::for_each(nodes_.rbegin(), nodes_.rend(), [&](const Node& node) { backward(node); });
}

ImpliedBounds::Interval ImpliedBounds::forward(const Node& node) const {
  const Interval a = nodes_[node.a].interval, b = nodes_[node.b].interval;
  switch (node.kind) {
    case Kind::add:
      return sum(a, b);
    case Kind::subtract:
      return difference(a, b);
    case Kind::multiply:
      return product(a, b);
    case Kind::divide:
      return quotient(a, b);
    case Kind::square:
      return square_of(a);
    case Kind::negate:
      return {-a.high, -a.low};
    default:
      return {-kInfinity, kInfinity};
  }
}

void ImpliedBounds::compare() {
  const Interval left = nodes_[left_].interval, right = nodes_[right_].interval;
  if (op_ != Op::greater && op_ != Op::greater_equal) {
    narrow(left_, {-kInfinity, right.high});
    narrow(right_, {left.low, kInfinity});
  }
  if (op_ != Op::less && op_ != Op::less_equal) {
    narrow(left_, {right.low, kInfinity});
    narrow(right_, {-kInfinity, left.high});
  }
}

/// Bounds the operands by the result and each other.
void ImpliedBounds::backward(const Node& node) {
  const Interval a = nodes_[node.a].interval, b = nodes_[node.b].interval;
  const Interval result = relaxed(node.interval);
  switch (node.kind) {
    case Kind::add:
      narrow(node.a, difference(result, b));
      return narrow(node.b, difference(result, a));
    case Kind::subtract:
      narrow(node.a, sum(result, b));
      return narrow(node.b, difference(a, result));
    case Kind::multiply:
      narrow(node.a, quotient(result, b));
      return narrow(node.b, quotient(result, a));
    case Kind::divide:
      return narrow(node.a, product(result, b));
    case Kind::square:
      return narrow(node.a, root_of(result));
    case Kind::negate:
      return narrow(node.a, {-result.high, -result.low});
    default:
      return;
  }
}

void ImpliedBounds::narrow(std::uint32_t node, Interval to) {
  Interval& interval = nodes_[node].interval;
  interval = {std::max(interval.low, to.low), std::min(interval.high, to.high)};
}

/// An event has one value for all places where the attribute stands, so their intervals intersect.
ImpliedBounds::Interval ImpliedBounds::interval_of(std::uint32_t attribute) const {
  Interval interval{-kInfinity, kInfinity};
  for (const Node& node : nodes_) {
    if (node.kind != Kind::attribute || node.attribute != attribute) continue;
    interval.low = std::max(interval.low, node.interval.low);
    interval.high = std::min(interval.high, node.interval.high);
  }
  return interval;
}

}  // namespace gorgo::engine
