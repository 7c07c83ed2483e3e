#pragma once

#include <optional>
#include <vector>

#include "TeslaParser.h"
#include "language/aggregate_names.hpp"

/// What a name with brackets behind it is, told from its name and the form of its arguments: the
/// grammar reads `max(a, b)` and `Max(Temp().value within 5 min from A)` alike.
namespace gorgo::language {

/// The parts of `AGG(Type(conditions).attribute span) span`, however it is written.
struct AggregateShape {
  /// One type or several, with `or` between.
  std::vector<grammar::TeslaParser::AttributeNameContext*> types;
  std::vector<antlr4::tree::TerminalNode*> ors;                     ///< between the types
  grammar::TeslaParser::ArgumentsContext* brackets = nullptr;       ///< of the type
  grammar::TeslaParser::AttributeNameContext* attribute = nullptr;  ///< may be missing
  antlr4::tree::TerminalNode* dot = nullptr;                        ///< before the attribute
  antlr4::tree::TerminalNode* comma = nullptr;
  grammar::TeslaParser::DisjunctionContext* percent = nullptr;  ///< Percentile: behind the comma
  std::vector<grammar::TeslaParser::SpanContext*> spans;        ///< right ones have one
};

/// The primary that the whole of a value or condition consists of; null: there is more.
grammar::TeslaParser::PrimaryContext* lone_primary(grammar::TeslaParser::SumContext* sum);
grammar::TeslaParser::PrimaryContext* lone_primary(
    grammar::TeslaParser::DisjunctionContext* condition);

/// Whether the primary is a call: a name with brackets behind it.
bool is_call(grammar::TeslaParser::PrimaryContext* primary);
/// Whether the call is a look-up in a table, `Customer(id = $c).limit`. Precondition:
/// `is_call(primary)`, and it has not the form of an aggregate.
bool is_lookup(grammar::TeslaParser::PrimaryContext* primary);
/// The parts of a call that has the form of an aggregate. It is one if its name is that of an
/// aggregate, or if it has a span. Precondition: `is_call(primary)`.
std::optional<AggregateShape> aggregate_shape(grammar::TeslaParser::PrimaryContext* primary);

}  // namespace gorgo::language
