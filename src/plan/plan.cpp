#include "plan/plan.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "base/arithmetic.hpp"

namespace gorgo::plan {
namespace {

bool is_own(const Expr& expr) { return mentions_candidate(expr) && !mentions_sequence(expr); }

/// Adds the attributes of the candidate that the expression reads.
void add_attributes(const Expr& expr, std::vector<std::uint32_t>& attributes) {
  if (expr.op == Op::attribute && expr.source == kCandidate) attributes.push_back(expr.index);
  for (const Expr& arg : expr.args) add_attributes(arg, attributes);
}

/// The conditions of a predicate by how they are tested.
struct Sorted {
  std::vector<Expr> guards;
  std::vector<Expr> constant;  ///< of the column
  std::vector<Comparison> comparisons;
  std::vector<Expr> residual;
  std::vector<std::uint32_t> attributes;  ///< that comparisons and residual read

  void add(const Expr& condition) {
    if (!mentions_candidate(condition)) return guards.push_back(condition);
    if (!mentions_sequence(condition)) return constant.push_back(condition);
    add_attributes(condition, attributes);
    if (auto comparison = as_comparison(condition)) {
      comparisons.push_back(std::move(*comparison));
    } else {
      residual.push_back(condition);
    }
  }
};

std::vector<std::uint32_t> key_of(std::span<const Comparison> comparisons) {
  std::vector<std::pair<std::string, std::uint32_t>> equalities;
  for (std::uint32_t i = 0; i < comparisons.size(); ++i) {
    const Comparison& comparison = comparisons[i];
    if (comparison.op == Op::equal) equalities.emplace_back(fingerprint(comparison.subject), i);
  }
  std::sort(equalities.begin(), equalities.end());
  std::vector<std::uint32_t> key;
  for (const auto& [subject, i] : equalities) key.push_back(i);
  return key;
}

/// The last state that a search for the predicate depends on.
std::uint32_t decided_at(const Predicate& predicate, const Span& span) {
  std::uint32_t last = span.first;
  if (span.kind == SpanKind::between) last = std::max(last, span.second);
  for (const Expr& condition : predicate.conditions) last = std::max(last, last_state(condition));
  return last;
}

std::string column_key(TypeId type, std::span<const Expr> conditions) {
  std::vector<std::string> parts;
  for (const Expr& condition : conditions) parts.push_back(fingerprint(condition));
  std::sort(parts.begin(), parts.end());
  std::string key = std::to_string(type);
  for (const auto& part : parts) key += part;
  return key;
}

Scan make_scan(const Predicate& predicate) {
  Sorted sorted;
  for (const Expr& condition : predicate.conditions) sorted.add(condition);
  auto& attributes = sorted.attributes;
  std::sort(attributes.begin(), attributes.end());
  attributes.erase(std::unique(attributes.begin(), attributes.end()), attributes.end());
  Scan scan;
  scan.column = {.type = predicate.type,
                 .conditions = {},
                 .attributes = std::move(attributes),
                 .key = column_key(predicate.type, sorted.constant)};
  scan.column.conditions = std::move(sorted.constant);
  scan.guards = std::move(sorted.guards);
  scan.key = key_of(sorted.comparisons);
  scan.comparisons = std::move(sorted.comparisons);
  scan.residual = std::move(sorted.residual);
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
      const bool has_panes = panes_of(rule, aggregate) > 0;
      extend(aggregate.predicate.type, has_panes ? 0 : reach(aggregate.span));
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

bool are_alike(std::span<const Expr> a, std::span<const Expr> b) {
  return std::ranges::equal(
      a, b, [](const Expr& x, const Expr& y) { return fingerprint(x) == fingerprint(y); });
}

/// Has scans of one column keep its key once, and its conditions, where they stand in one order.
void share_columns(Plan& plan) {
  std::vector<ColumnSpec*> specs;
  for (StatePlan& state : plan.states) specs.push_back(&state.scan.column);
  for (Scan& negation : plan.negations) specs.push_back(&negation.column);
  for (AggregatePlan& aggregate : plan.aggregates) specs.push_back(&aggregate.scan.column);
  std::map<std::string_view, const ColumnSpec*> known;
  for (ColumnSpec* const spec : specs) {
    const ColumnSpec& first = *known.try_emplace(spec->key, spec).first->second;
    spec->key = first.key;
    if (are_alike(spec->conditions, first.conditions)) spec->conditions = first.conditions;
  }
}

void plan_negations(const Rule& rule, Plan& plan) {
  std::vector<std::vector<std::uint32_t>> negations(rule.states.size());  // by state
  for (std::uint32_t i = 0; i < rule.negations.size(); ++i) {
    const Negation& negation = rule.negations[i];
    plan.negations.push_back(make_scan(negation.predicate));
    if (negation.span.kind == SpanKind::after) {
      plan.deadline = std::max(plan.deadline.value_or(0), negation.span.width);
    } else {
      negations[negation.completed_at].push_back(i);
    }
  }
  for (std::size_t i = 0; i < negations.size(); ++i) {
    plan.states[i].negations = std::move(negations[i]);
  }
}

void plan_aggregates(const Rule& rule, Plan& plan) {
  for (const Aggregate& aggregate : rule.aggregates) {
    plan.aggregates.push_back({.scan = make_scan(aggregate.predicate),
                               .decided_at = decided_at(aggregate.predicate, aggregate.span),
                               .panes = panes_of(rule, aggregate)});
    if (!aggregate.attribute) continue;
    auto& attributes = plan.aggregates.back().scan.column.attributes;
    const auto at = std::lower_bound(attributes.begin(), attributes.end(), *aggregate.attribute);
    if (at == attributes.end() || *at != *aggregate.attribute) {
      attributes.insert(at, *aggregate.attribute);
    }
  }
}

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
  plan.states.reserve(rule.states.size());
  for (const State& state : rule.states) {
    plan.states.push_back({.negations = {}, .scan = make_scan(state.predicate)});
  }
  plan_negations(rule, plan);
  plan_aggregates(rule, plan);
  plan.panes = cut_of(rule);
  for (std::uint32_t i = 0; i < rule.assignments.size(); ++i) {
    if (computes_text(rule.assignments[i])) plan.computed_texts.push_back(i);
  }
  share_columns(plan);
  plan.reach = ReachOf(rule, plan.deadline.value_or(0)).take();
  plan.rule = std::move(rule);
  return plan;
}

ColumnSpec column_of_all(TypeId type) { return {.type = type, .key = column_key(type, {})}; }

}  // namespace gorgo::plan
