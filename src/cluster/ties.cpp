#include "cluster/ties.hpp"

#include <algorithm>
#include <utility>

namespace gorgo::cluster {
namespace {

using Attributes = std::set<std::uint32_t>;

/// A condition `own = other` of a predicate: an attribute of the event under test, and one of it or
/// of a state.
struct Equality {
  std::uint32_t own = 0;
  std::int32_t source = kCandidate;
  std::uint32_t index = 0;
};

void add_equalities(const Expr& condition, std::vector<Equality>& found) {
  if (condition.op == Op::logical_and) {
    for (const Expr& part : condition.args) add_equalities(part, found);
    return;
  }
  if (condition.op != Op::equal) return;
  const Expr *a = &condition.args[0], *b = &condition.args[1];
  if (a->op != Op::attribute || b->op != Op::attribute || a->type != b->type) return;
  if (a->source != kCandidate) std::swap(a, b);
  if (a->source != kCandidate) return;
  found.push_back({a->index, b->source, b->index});
}

/// Floats are equal to others that are written differently, and NaN to nothing.
bool can_be_key(const AttributeType& attribute) { return attribute.type != ValueType::floating; }

/// Follows the value of one attribute of the terminator through a rule.
class Follower {
 public:
  Follower(const Rule& rule, const Schema& schema) : rule_(rule), schema_(schema) {}

  /// Whether every predicate demands the value. Precondition: it was not called before.
  bool follow(std::uint32_t attribute) {
    states_.push_back(tied(rule_.states[0].predicate, {attribute}));
    take(rule_.states[0].predicate, states_[0]);
    if (!counts_apart()) return false;
    for (std::size_t i = 1; i < rule_.states.size(); ++i) {
      const State& state = rule_.states[i];
      states_.push_back(tied(state.predicate, {}));
      if (!take(state.predicate, states_[i])) return fail("state " + state.name, attribute);
    }
    for (const Negation& one : rule_.negations) {
      if (!take(one.predicate, tied(one.predicate, {}))) {
        return fail("not " + name(one.predicate), attribute);
      }
    }
    for (const Aggregate& one : rule_.aggregates) {
      if (!take(one.predicate, tied(one.predicate, {}))) {
        return fail("the aggregate of " + name(one.predicate), attribute);
      }
    }
    return follow_composite();
  }

  Division take() { return std::move(division_); }
  const Attributes& terminator() const { return states_[0]; }
  const std::string& because() const { return because_; }
  /// How many predicates have the value.
  std::size_t reached() const { return reached_; }

 private:
  const Rule& rule_;
  const Schema& schema_;
  std::vector<Attributes> states_;  // those that have the value, by state
  Division division_;
  std::string because_;
  std::size_t reached_ = 0;

  std::string name(const Predicate& predicate) const { return schema_.at(predicate.type).name; }

  bool fail(const std::string& what, std::uint32_t attribute) {
    const EventType& type = schema_.at(rule_.states[0].predicate.type);
    because_ = what + " need not equal " + type.name + "." + type.attributes[attribute].name;
    return false;
  }

  /// The attributes of the predicate's event that have the value, those that are known to have it
  /// included.
  Attributes tied(const Predicate& predicate, Attributes known) const {
    std::vector<Equality> equalities;
    for (const Expr& condition : predicate.conditions) add_equalities(condition, equalities);
    for (const Equality& one : equalities) {
      const auto source = static_cast<std::size_t>(one.source);
      if (one.source != kCandidate && source < states_.size() &&
          states_[source].contains(one.index)) {
        known.insert(one.own);
      }
    }
    for (std::size_t before = ~std::size_t{0}; before != known.size();) {
      before = known.size();
      for (const Equality& one : equalities) {
        if (one.source != kCandidate) continue;
        if (known.contains(one.own)) known.insert(one.index);
        if (known.contains(one.index)) known.insert(one.own);
      }
    }
    return known;
  }

  /// Notes what is tied of a type; false: nothing is, in one of the predicates of the type. Rows of
  /// a table are divided as the events that they are, by attributes of their key: conditions on
  /// others are tests of a row.
  bool take(const Predicate& predicate, const Attributes& tied) {
    const EventType& type = schema_.at(predicate.type);
    const TypeId events = type.table() ? type.members.front().type : type.id;
    const auto [at, is_new] = division_.keys.try_emplace(events, tied);
    if (!is_new) {
      std::erase_if(at->second, [&](std::uint32_t one) { return !tied.contains(one); });
    }
    reached_ += at->second.empty() ? 0 : 1;
    return !at->second.empty();
  }

  /// Whether the events that `every` counts together all have one value.
  bool counts_apart() {
    if (!rule_.every) return true;
    const bool is_counted_apart = std::ranges::any_of(
        rule_.every->per, [&](std::uint32_t one) { return states_[0].contains(one); });
    if (!is_counted_apart) because_ = "`every` counts events of different keys together";
    return is_counted_apart;
  }

  bool follow_composite() {
    for (std::uint32_t i = 0; i < rule_.assignments.size(); ++i) {
      const Expr& value = rule_.assignments[i];
      if (value.op != Op::attribute || value.source == kCandidate) continue;
      if (states_[static_cast<std::size_t>(value.source)].contains(value.index)) {
        division_.composite.insert(i);
      }
    }
    if (!rule_.at_most) return true;
    const auto& by = rule_.at_most->by;
    const bool is_counted_apart = std::ranges::any_of(
        by, [&](std::uint32_t one) { return division_.composite.contains(one); });
    if (!is_counted_apart) because_ = "@at_most counts composites of different keys together";
    return is_counted_apart;
  }
};

}  // namespace

Divisions divisions_of(const Rule& rule, const Schema& schema) {
  if (rule.timer) return {{}, "a timer fires once for the events of all keys"};
  const bool reads_several = std::ranges::any_of(
      rule.joints, [&](const JointType& joint) { return !schema.at(joint.type).table(); });
  if (reads_several) return {{}, "it has states, absences or aggregates over several types"};
  const auto counts_all = [](const auto& one) { return one.among.has_value(); };
  if (std::ranges::any_of(rule.states, counts_all) ||
      std::ranges::any_of(rule.aggregates, counts_all)) {
    return {{}, "it counts the newest of all events, whatever their keys"};
  }
  const auto& attributes = schema.at(rule.states[0].predicate.type).attributes;
  Divisions found;
  found.because = "its terminator has no attribute that can be a key: an int, a string or a bool";
  Attributes seen;
  std::size_t furthest = 0;
  for (std::uint32_t i = 0; i < attributes.size(); ++i) {
    if (!can_be_key(attributes[i]) || seen.contains(i)) continue;
    Follower follower(rule, schema);
    const bool divides = follower.follow(i);
    seen.insert(follower.terminator().begin(), follower.terminator().end());
    if (divides) {
      found.ways.push_back(follower.take());
    } else if (follower.reached() > furthest) {
      furthest = follower.reached();
      found.because = follower.because();
    }
  }
  if (!found.ways.empty()) found.because.clear();
  return found;
}

}  // namespace gorgo::cluster
