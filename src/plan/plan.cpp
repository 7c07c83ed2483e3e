#include "plan/plan.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/arithmetic.hpp"

namespace gorgo::plan {
namespace {

bool is_own(const Expr& expr) { return mentions_candidate(expr) && !mentions_sequence(expr); }

/// Adds the attributes of the candidate that the expression reads.
void add_attributes(const Expr& expr, std::vector<std::uint32_t>& attributes) {
  if (expr.op == Op::attribute && expr.source == kCandidate) attributes.push_back(expr.index);
  for (const Expr& arg : expr.args) add_attributes(arg, attributes);
}

void add_condition(const Expr& condition, Scan& scan) {
  if (!mentions_candidate(condition)) {
    scan.guards.push_back(condition);
  } else if (!mentions_sequence(condition)) {
    scan.column.conditions.push_back(condition);
  } else {
    add_attributes(condition, scan.column.attributes);
    if (auto comparison = as_comparison(condition)) {
      scan.comparisons.push_back(std::move(*comparison));
    } else {
      scan.residual.push_back(condition);
    }
  }
}

void find_key(Scan& scan) {
  std::vector<std::pair<std::string, std::uint32_t>> equalities;
  for (std::uint32_t i = 0; i < scan.comparisons.size(); ++i) {
    const Comparison& comparison = scan.comparisons[i];
    if (comparison.op == Op::equal) equalities.emplace_back(fingerprint(comparison.subject), i);
  }
  std::sort(equalities.begin(), equalities.end());
  for (const auto& [subject, i] : equalities) scan.key.push_back(i);
}

/// The last state that a search for the predicate depends on.
std::uint32_t decided_at(const Predicate& predicate, const Span& span) {
  std::uint32_t last = span.first;
  if (span.kind == SpanKind::between) last = std::max(last, span.second);
  for (const Expr& condition : predicate.conditions) last = std::max(last, last_state(condition));
  return last;
}

Scan make_scan(const Predicate& predicate) {
  Scan scan;
  scan.column.type = predicate.type;
  for (const Expr& condition : predicate.conditions) add_condition(condition, scan);

  auto& attributes = scan.column.attributes;
  std::sort(attributes.begin(), attributes.end());
  attributes.erase(std::unique(attributes.begin(), attributes.end()), attributes.end());

  std::vector<std::string> keys;
  for (const Expr& condition : scan.column.conditions) keys.push_back(fingerprint(condition));
  std::sort(keys.begin(), keys.end());
  scan.column.key = std::to_string(predicate.type);
  for (const auto& key : keys) scan.column.key += key;
  find_key(scan);
  return scan;
}

class ReachOf {
 public:
  explicit ReachOf(const Rule& rule, Duration deadline) : deadline_(deadline) {
    for (const State& state : rule.states) {
      const bool terminator = states_.empty();
      // The rows of a table stay whatever their age; what they replace stays as long as others that
      // are as far behind.
      states_.push_back(terminator ? 0
                                   : arithmetic::saturating_add(states_[state.reference],
                                                                state.table ? 0 : state.width));
      extend(state.predicate.type, states_.back());
    }
    for (const auto& negation : rule.negations) {
      extend(negation.predicate.type, reach(negation.span));
    }
    for (const auto& aggregate : rule.aggregates) {
      extend(aggregate.predicate.type, reach(aggregate.span));
    }
  }

  std::map<TypeId, Duration> take() { return std::move(types_); }

 private:
  Duration reach(const Span& span) const {
    if (span.table) return states_[span.first];
    switch (span.kind) {
      case SpanKind::within:
        return arithmetic::saturating_add(states_[span.first], span.width);
      case SpanKind::between:
        return std::max(states_[span.first], states_[span.second]);
      case SpanKind::after:
        return span.width;
    }
    return 0;
  }

  /// Whatever a sequence refers to must stay until its deadline.
  void extend(TypeId type, Duration reach) {
    Duration& known = types_[type];
    known = std::max(known, arithmetic::saturating_add(reach, deadline_));
  }

  Duration deadline_;

  std::vector<Duration> states_;
  std::map<TypeId, Duration> types_;
};

}  // namespace

std::optional<Op> mirrored(Op op) {
  switch (op) {
    case Op::equal:
      return Op::equal;
    case Op::not_equal:
      return Op::not_equal;
    case Op::less:
      return Op::greater;
    case Op::less_equal:
      return Op::greater_equal;
    case Op::greater:
      return Op::less;
    case Op::greater_equal:
      return Op::less_equal;
    default:
      return std::nullopt;
  }
}

std::optional<std::uint32_t> Comparison::attribute() const {
  if (subject.op != Op::attribute) return std::nullopt;
  return subject.index;
}

std::optional<Comparison> as_comparison(const Expr& condition) {
  const auto mirror = mirrored(condition.op);
  if (!mirror && condition.op != Op::contains) return std::nullopt;
  const Expr& left = condition.args[0];
  const Expr& right = condition.args[1];
  if (computes_text(left) || computes_text(right)) return std::nullopt;
  if (is_own(left) && !mentions_candidate(right)) return Comparison{condition.op, left, right};
  if (mirror && is_own(right) && !mentions_candidate(left)) {
    return Comparison{*mirror, right, left};
  }
  return std::nullopt;
}

Plan make_plan(Rule rule) {
  Plan plan;
  if (rule.timer) rule.states[0].predicate.type = kTimerType;
  for (const State& state : rule.states) {
    plan.states.push_back({.scan = make_scan(state.predicate)});
  }
  for (std::uint32_t i = 0; i < rule.negations.size(); ++i) {
    const Negation& negation = rule.negations[i];
    plan.negations.push_back(make_scan(negation.predicate));
    if (negation.span.kind == SpanKind::after) {
      plan.deadline = std::max(plan.deadline.value_or(0), negation.span.width);
    } else {
      plan.states[negation.completed_at].negations.push_back(i);
    }
  }
  for (const Aggregate& aggregate : rule.aggregates) {
    plan.aggregates.push_back({.scan = make_scan(aggregate.predicate),
                               .decided_at = decided_at(aggregate.predicate, aggregate.span)});
    if (!aggregate.attribute) continue;
    auto& attributes = plan.aggregates.back().scan.column.attributes;
    const auto at = std::lower_bound(attributes.begin(), attributes.end(), *aggregate.attribute);
    if (at == attributes.end() || *at != *aggregate.attribute) {
      attributes.insert(at, *aggregate.attribute);
    }
  }
  for (std::uint32_t i = 0; i < rule.assignments.size(); ++i) {
    if (computes_text(rule.assignments[i])) plan.computed_texts.push_back(i);
  }
  plan.reach = ReachOf(rule, plan.deadline.value_or(0)).take();
  plan.rule = std::move(rule);
  return plan;
}

}  // namespace gorgo::plan
