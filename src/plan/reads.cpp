#include "plan/reads.hpp"

namespace gorgo::plan {
namespace {

class Reads {
 public:
  explicit Reads(const Rule& rule) : rule_(rule) {}

  std::set<TypeAttribute> take() {
    for (const State& state : rule_.states) add(state.predicate);
    for (const Negation& negation : rule_.negations) add(negation.predicate);
    for (const Aggregate& aggregate : rule_.aggregates) {
      add(aggregate.predicate);
      if (aggregate.attribute) reads_.emplace(aggregate.predicate.type, *aggregate.attribute);
    }
    for (const Filter& filter : rule_.filters) add(filter.condition, kNoType);
    for (const Expr& assignment : rule_.assignments) add(assignment, kNoType);
    return std::move(reads_);
  }

 private:
  const Rule& rule_;
  std::set<TypeAttribute> reads_;

  void add(const Predicate& predicate) {
    for (const Expr& condition : predicate.conditions) add(condition, predicate.type);
  }

  void add(const Expr& expr, TypeId candidate) {
    if (expr.op == Op::attribute || expr.op == Op::present) {
      const auto source = static_cast<std::size_t>(expr.source);
      reads_.emplace(expr.source == kCandidate ? candidate : rule_.states[source].predicate.type,
                     expr.index);
    }
    for (const Expr& argument : expr.args) add(argument, candidate);
  }
};

}  // namespace

std::set<TypeAttribute> attributes_read(const Rule& rule) { return Reads(rule).take(); }

std::set<TypeId> types_read(const Plan& plan) {
  std::set<TypeId> types;
  for (const auto& [type, reach] : plan.reach) types.insert(type);
  for (const JointType& joint : plan.rule.joints) {
    types.erase(joint.type);
    for (const JointMember& member : joint.members) types.insert(member.type);
  }
  return types;
}

}  // namespace gorgo::plan
