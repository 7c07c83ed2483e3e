#pragma once

#include <string>
#include <string_view>

#include "gorgo/rule.hpp"
#include "gorgo/schema.hpp"

namespace gorgo::language {

/// `300000000000` as "5 min": in the largest unit that gives a whole number.
std::string duration_text(Duration duration);
/// `5 min 1 s`: in as many units as it needs, the largest first; 0 is "0".
std::string length_text(Duration duration);
/// `5 min`, or `5 min inclusive` for a nanosecond more, which is how windows include their ends.
std::string window_text(Duration width);

/// The parts of a checked rule, spelled as in rule texts with the names of its states and
/// attributes; with as few brackets as the order of operations allows. What rules do not say is
/// written like a function: `to_float(Temp.count)`, and `has area` for what a binding demands. The
/// aggregates are $0, $1, ....
class RuleText {
 public:
  /// Both must outlive the result.
  RuleText(const Rule& rule, const Schema& schema) : rule_(rule), schema_(schema) {}

  /// `candidate` is the type of the event that the expression is tested on, kNoType without one.
  std::string expr(const Expr& e, TypeId candidate) const;
  /// `Temp(area = Smoke.area, value > 45)`
  std::string predicate(const Predicate& p) const;
  /// `within 5 min from Smoke`, or `within 5 min inclusive from Smoke`
  std::string window(const State& s) const;
  /// `per area`; empty without `per`.
  std::string keys(const State& s) const;
  /// `every 100`, or `every 100 per area`; empty without `every`.
  std::string every() const;
  /// What begins an evaluation: `every 100 Temp(value > 45) per area`, or the timer.
  std::string terminator() const;
  /// `mean desc, area`; empty without `order by`.
  std::string order() const;
  /// `1 per 10 min by area`; empty without `@at_most`.
  std::string at_most() const;
  std::string span(const Span& s) const;
  /// `AVG(Temp().value within 5 min from Smoke)`
  std::string aggregate(const Aggregate& a) const;
  /// `Timer(every = 1 min)`. Precondition: the rule has one.
  std::string timer() const;
  std::string state(std::uint32_t index) const { return rule_.states[index].name; }
  std::string type(TypeId id) const;
  std::string attribute(TypeId type, std::uint32_t index) const;

 private:
  std::string keys(TypeId type, const std::vector<std::uint32_t>& per) const;
  std::string operand(const Expr& e, TypeId candidate, int binding_above) const;
  std::string operation(const Expr& e, TypeId candidate) const;
  std::string call(const Expr& e, TypeId candidate) const;
  std::string source(const Expr& e, TypeId candidate) const;

  const Rule& rule_;
  const Schema& schema_;
};

/// "each", "3-last", ...
std::string selection_text(const State& state);

}  // namespace gorgo::language
