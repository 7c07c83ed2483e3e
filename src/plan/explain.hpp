#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "gorgo/schema.hpp"
#include "plan/plan.hpp"

namespace gorgo::plan {

/// How rules are evaluated, in words. Expressions are spelled as in rules.

/// How the events of a predicate are found.
struct ScanExplanation {
  std::string column;                    ///< `Temp(value > 45)`; empty for the terminator
  std::vector<std::string> shared_with;  ///< other rules that use the column: the first few
  std::size_t shared_by = 0;             ///< how many other rules there are
  std::vector<std::string> binds;        ///< attributes whose presence the column demands
  std::vector<std::string> constant;     ///< conditions of the column
  std::vector<std::string> equality;     ///< own expression = one value per search
  std::vector<std::string> range;  ///< own expression otherwise compared with one value per search
  std::vector<std::string> residual;  ///< tested on each event that is left
  std::vector<std::string> guards;    ///< tested once per search
};

struct StateExplanation {
  std::string name;
  std::string selection;  ///< "terminator", "terminator, every 100", "each", "3-last", ...
  std::string window;     ///< `within 5 min from Smoke`; empty for the terminator
  ScanExplanation scan;
};

struct NegationExplanation {
  std::string type;
  std::string span;
  /// The state with whose choice it is tested; nothing: it is tested at the deadline.
  std::optional<std::string> completed_at;
  ScanExplanation scan;
};

struct AggregateExplanation {
  std::string name;  ///< `$0`
  std::string call;  ///< `AVG(Temp(area = Smoke.area).value within 5 min from Smoke)`
  std::string type;
  bool required = false;   ///< without a value there is no composite
  std::int64_t panes = 0;  ///< that its window has, with `@panes`; 0: it has none
  ScanExplanation scan;
};

struct RuleExplanation {
  std::string name;
  Location at;
  std::string declaration;  ///< of the composite type
  std::string engine;       ///< empty: none was asked for
  std::string timer;        ///< empty: the terminator is an event
  std::vector<StateExplanation> states;
  std::vector<NegationExplanation> negations;
  std::vector<AggregateExplanation> aggregates;
  std::vector<std::string> filters;
  std::vector<std::string> assignments;
  std::string order;                   ///< `mean desc, area`; empty: that of the sequences
  std::optional<std::uint64_t> limit;  ///< composites of a terminator
  std::string at_most;                 ///< `1 per 10 min by area`; empty: as many as there are
  std::vector<std::string> consuming;
  std::vector<std::string> actions;      ///< `webhook("ops")`
  std::string deadline;                  ///< how long behind the terminator; empty: at once
  std::vector<std::string> reach;        ///< "Temp 5 min": how long events are kept for this rule
  std::optional<std::uint32_t> stratum;  ///< rules of lower strata run before
};

struct TypeExplanation {
  std::string declaration;
  TypeOrigin origin = TypeOrigin::declared;
};

struct Explanation {
  std::vector<RuleExplanation> rules;
  std::vector<TypeExplanation> types;  ///< those that the rules read or produce, by name
  std::vector<std::vector<std::string>> cycles;
};

Explanation explain(std::span<const Plan* const> plans, const Schema& schema);
/// A rule by itself: what it has to do with others, its stratum and who shares its columns, is not
/// told.
RuleExplanation explain(const Plan& plan, const Schema& schema);

/// One paragraph per rule, then the types and cycles; aligned.
std::string to_text(const Explanation& explanation);
std::string to_text(const RuleExplanation& rule);

/// "declared", "composite", "inferred"
std::string_view to_string(TypeOrigin origin);

}  // namespace gorgo::plan
