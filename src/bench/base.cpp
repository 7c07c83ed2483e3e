#include "bench/base.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "bench/handwritten.hpp"
#include "bench/random.hpp"

namespace gorgo::bench {
namespace {

constexpr std::uint64_t kBaseSeed = 1;
constexpr std::int64_t kLateTicks = 1000;

/// Rule texts for the types of one group.
class BaseRule {
 public:
  BaseRule(const BaseParameters& parameters, int group)
      : p_(parameters), suffix_(p_.groups == 1 ? "" : "_" + std::to_string(group)) {}

  /// S0, S1, ..., N0, ...
  std::vector<std::string> types() const {
    std::vector<std::string> types;
    for (int i = 0; i < p_.states; ++i) types.push_back(state(i));
    for (int i = 0; i < p_.negations; ++i) types.push_back(negated(i));
    return types;
  }

  std::string declarations() const {
    std::string attributes = "(att: int, value: int, extra: int";
    for (int i = 3; i < p_.attributes; ++i) attributes += ", more" + std::to_string(i) + ": int";
    std::string text;
    for (const auto& type : types()) text += "event " + type + attributes + ");\n";
    return text;
  }

  std::string rule(const std::string& name, std::int64_t window) const {
    const std::string within = " within " + std::to_string(window) + " from ";
    std::string from = state(0) + "(" + conditions() + ")";
    for (int i = 1; i < p_.states; ++i) {
      from += "\n  and " + selection(i) + " " + state(i) + "(" + conditions() + ")" + within +
              state(i - 1);
    }
    for (int i = 0; i < p_.negations; ++i) {
      from += "\n  and not " + negated(i) + "(" + negated_condition() + ") " + negated_span();
    }
    std::string attributes = "att1: int", where = "att1 = " + state(0) + ".att";
    for (int i = 0; i < p_.aggregates; ++i) {
      const std::string variable = "$a" + std::to_string(i);
      const std::string attribute = "att" + std::to_string(i + 2);
      from += "\n  and " + variable + " = " + aggregate(i) + within + state(p_.states - 2) + ")";
      attributes += ", " + attribute + ": int";
      where += ", " + attribute + " = " + variable;
    }
    // The sums are about uniform modulo 100.
    if (p_.accepted < 100) from += "\n  and $a0 - $a0 / 100 * 100 < " + std::to_string(p_.accepted);
    return "rule " + name + ":\ndefine CE(" + attributes + ")\nfrom " + from + "\nwhere " + where +
           consuming() + ";\n";
  }

 private:
  std::string consuming() const {
    std::string text;
    for (int i = 1; i <= p_.consumed; ++i) text += (i == 1 ? "\nconsuming " : ", ") + state(i);
    return text;
  }

  std::string state(int i) const { return "S" + std::to_string(i) + suffix_; }
  std::string negated(int i) const { return "N" + std::to_string(i) + suffix_; }

  std::string conditions() const {
    constexpr std::array kConditions = {"", "att = $x", "att = $x and extra = $y"};
    return kConditions[static_cast<std::size_t>(p_.parameters)];
  }

  std::string selection(int i) const {
    if (p_.each_states < 0) return p_.selection;
    return i <= p_.each_states ? "each" : "last";
  }

  std::string negated_span() const {
    if (p_.rejected < 0) return "between " + state(1) + " and " + state(0);
    // Among n events the value is the greatest with a chance of 1 / (n + 1).
    const int ticks = 1 + (p_.states + p_.negations) * p_.rejected / (100 - p_.rejected);
    return "within " + std::to_string(ticks) + " from " + state(1);
  }

  /// The condition of a negation. Without a parameter few events pass it, some ten in a window.
  std::string negated_condition() const {
    if (p_.rejected >= 0) return "value > " + state(1) + ".value";
    if (p_.negation_parameter) return "att = $x";
    const std::int64_t few = 10 * (p_.states + p_.negations) * p_.values / p_.window;
    return "value <= " + std::to_string(std::max<std::int64_t>(1, few));
  }

  /// The text of an aggregate up to its window.
  std::string aggregate(int i) const {
    constexpr std::array kFunctions = {"Sum", "Avg", "Max"};
    constexpr std::array kAttributes = {"value", "extra", "value"};
    const auto at = static_cast<std::size_t>(i);
    return std::string(kFunctions[at]) + "(" + state(p_.states - 1) + "(" + conditions() + ")." +
           kAttributes[at];
  }

  const BaseParameters& p_;
  std::string suffix_;
};

EventSource base_source(const BaseParameters& p) {
  const auto types = static_cast<std::uint64_t>(p.groups * (p.states + p.negations));
  return [p, types, random = Random(kBaseSeed),
          tick = std::int64_t{0}](GeneratedEvents& batch) mutable {
    ++tick;
    const auto type = static_cast<std::uint32_t>(random.below(types));
    const bool late = random.below(100) < static_cast<std::uint64_t>(p.late_share);
    const std::int64_t behind = late ? random.between(1, kLateTicks - 1) : 0;
    batch.add(type, (tick - behind) * kTick);
    for (int i = 0; i < p.attributes; ++i) batch.cell(Datum::of(random.between(1, p.values)));
  };
}

/// The parameters with the number that `values` stands for.
BaseParameters resolved(BaseParameters p) {
  if (p.values == 0)
    p.values = std::max<std::int64_t>(1, p.window / (p.groups * (p.states + p.negations)));
  if (p.parameters == 2) p.values = std::lround(std::sqrt(static_cast<double>(p.values)));
  return p;
}

bool is_plain(const BaseParameters& p) {
  BaseParameters plain;
  plain.selection = p.selection;
  plain.window = p.window;
  plain.values = p.values;
  plain.threads = p.threads;
  return p == plain;
}

std::string base_rules(const BaseParameters& p) {
  std::string text;
  for (int group = 0; group < p.groups; ++group) text += BaseRule(p, group).declarations();
  for (int i = 0; i < p.rules; ++i) {
    // Rules of a group differ in their windows, so that no engine can take them for one.
    text += BaseRule(p, i % p.groups).rule("r" + std::to_string(i), p.window - i / p.groups);
  }
  return text;
}

}  // namespace

Workload base_workload(const BaseParameters& parameters) {
  const BaseParameters p = resolved(parameters);
  Workload workload;
  workload.rules = base_rules(p);
  for (int group = 0; group < p.groups; ++group) {
    workload.passive.push_back(static_cast<std::uint32_t>(workload.types.size()));
    for (auto& type : BaseRule(p, group).types()) workload.types.push_back(std::move(type));
  }
  workload.make_source = [p] { return base_source(p); };
  workload.threads = p.threads;
  workload.fill = static_cast<std::uint64_t>(std::max(p.passed, p.window * (p.states - 1)));
  if (p.late_share > 0) workload.max_late = kLateTicks * kTick;
  if (is_plain(p)) {
    workload.handwritten = [p] { return handwritten_base(p.selection, p.window * kTick); };
  }
  return workload;
}

}  // namespace gorgo::bench
