#pragma once

#include <span>
#include <string>

#include "gorgo/rule.hpp"
#include "gorgo/schema.hpp"
#include "gorgo/why.hpp"
#include "history/evaluate.hpp"
#include "language/rule_text.hpp"

namespace gorgo::dispatch {

/// How far a condition was missed, to compare candidates by: less is nearer.
struct Nearness {
  std::size_t failed = 0;  ///< conditions that do not hold
  bool unordered = false;  ///< no number was compared by size
  double distance = 0;     ///< between the two numbers

  friend auto operator<=>(const Nearness&, const Nearness&) = default;
};

/// Words for what an evaluation of one rule compares.
class WitnessText {
 public:
  /// Both must outlive the result.
  WitnessText(const Rule& rule, const Schema& schema)
      : rule_(rule), schema_(schema), text_(rule, schema) {}

  const language::RuleText& rule() const { return text_; }
  /// `Temp@1200 {area="A1", value=42.5}`
  std::string event(TypeId type, history::EventRef event) const;
  /// The events of states 0, 1, ...
  std::string sequence(std::span<const history::EventRef> sequence) const;
  /// The selection, predicate and window of a state; for state 0 only its predicate.
  std::string clause(std::size_t state) const;
  std::string negation(const Negation& negation) const;
  /// The filter with the aggregates that it mentions.
  std::string filter(const Filter& filter) const;
  /// `$0 = AVG(Temp().value within 5 min from Smoke)`
  std::string aggregate(std::uint32_t index) const;

  /// `area = Smoke.area`, of an attribute of the composite
  std::string assignment(std::uint32_t index) const;

  /// What a condition that does not hold compared.
  std::string found(const Expr& condition, TypeId candidate, const history::Scope& scope) const;

 private:
  std::string mentioned_aggregates(const Expr& expr) const;
  Expr with_values(const Expr& expr, const history::Scope& scope) const;

  const Rule& rule_;
  const Schema& schema_;
  const language::RuleText text_;
};

/// How near a candidate came that fails the condition `first` and perhaps some after it.
Nearness nearness(std::span<const Expr> conditions, std::size_t first, const history::Scope& scope);

}  // namespace gorgo::dispatch
