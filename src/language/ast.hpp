#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "gorgo/diagnostics.hpp"
#include "gorgo/rule.hpp"
#include "gorgo/value.hpp"

/// Rules as written, names unresolved. The parser builds this from text; other front ends (T-Rex
/// rule packets) build it without text. Plain values: copyable by moving, no invariants beyond
/// those written at the members. Binding turns it into `gorgo::Rule`.
namespace gorgo::ast {

using gorgo::AggregateFunction;
using gorgo::Selection;
using gorgo::SpanKind;

struct Name {
  std::string text;
  Location at;
};

struct AggregateCall;

enum class ExprKind : std::uint8_t {
  literal,          ///< `value`
  duration,         ///< `value` is an integer, nanoseconds: `5 min` in an expression
  attribute,        ///< `name`: of the predicate it stands in (`timestamp` included)
  state_attribute,  ///< `qualifier`.`name`
  parameter,        ///< `$name`
  aggregate,        ///< `aggregate`
  call,             ///< function `name` of the children
  negate,           ///< -a
  add,
  subtract,
  multiply,
  divide,
  equal,
  not_equal,
  less,
  less_equal,
  greater,
  greater_equal,
  contains,
  bind,  ///< attribute => $parameter (children: attribute, parameter)
  logical_and,
  logical_or,
  logical_not,
};

struct Expr {
  ExprKind kind = ExprKind::literal;
  Location at;  ///< of the operator for operations, of the first token otherwise
  Value value;
  Name qualifier;
  Name name;                             ///< parameter names without `$`
  std::optional<ValueType> stated_type;  ///< `[type]` before a comparison's left side
  std::vector<Expr> children;
  std::shared_ptr<AggregateCall> aggregate;
  std::shared_ptr<const functions::Prepared> prepared;  ///< of a call in a checked subscription
  bool bracketed = false;  ///< a condition in brackets is false where it has no value
};

/// `Type(conditions) [as Alias]`. A `,` list of conditions is several elements.
struct Predicate {
  Name type;  ///< of several types: their joint type
  std::vector<Expr> conditions;
  std::optional<Name> alias;
  std::vector<Name> any_of = {};  ///< the several types, as written; empty: it is one
};

struct Span {
  SpanKind kind = SpanKind::within;
  Location at;
  Duration width = 0;  ///< nanoseconds (saturated), one more with its end; whether it is positive
                       ///< is checked later
  Name first;          ///< the reference; for `between` one of two
  Name second;         ///< `between` only
  Name constant = {};  ///< which gives the width; empty: written as a number
  bool inclusive = false;                   ///< `within 5 min inclusive`
  std::optional<std::int64_t> newest = {};  ///< `within 20 events`: of the events in the span
  Name newest_constant = {};                ///< which gives this number; empty: written as one
  bool of_all = false;   ///< `within 20 of all events`: it counts all of the type
  bool endless = false;  ///< a number of events without a time
};

struct AggregateCall {
  AggregateFunction function = AggregateFunction::count;
  Location at;
  Predicate predicate;            ///< never has an alias
  std::optional<Name> attribute;  ///< absent only for COUNT
  double percent = 50;            ///< PERCENTILE: 0 to 100
  Span span;                      ///< not of a look-up
  bool lookup = false;            ///< `Customer(id = $c).limit`: LAST of the rows of a table
};

struct StateClause {
  Location at;
  Selection selection = Selection::each;
  std::int64_t k = 1;     ///< as written for k_first and k_last
  Predicate predicate;    ///< of a table: its type is that of the rows
  std::vector<Expr> per;  ///< attributes of the predicate's type
  Span span;              ///< not of a table
  bool table = false;     ///< `table Customer(id = $c)`: the rows there are
};

struct NegationClause {
  Location at;
  Predicate predicate;
  Span span;
};

/// `[expr cmp] $t = AGG(...)`.
struct AggregateBinding {
  Location at;
  Name parameter;
  std::shared_ptr<AggregateCall> aggregate;
  std::optional<Expr> left;               ///< `expr` of `expr cmp $t = AGG`
  ExprKind comparison = ExprKind::equal;  ///< `cmp`, meaningful with `left`
};

struct FilterClause {
  Location at;
  Expr condition;
};

using Clause = std::variant<StateClause, NegationClause, AggregateBinding, FilterClause>;

/// `Timer(every = 1 min)` or `Timer(hour = 9, minute = 0)`.
struct Timer {
  Location at;
  std::optional<Duration> every;
  std::optional<std::int64_t> hour, minute, second;
  std::optional<Name> zone = {};  ///< as in `zone = "Europe/Rome"`
};

/// `every 100 Temp() per area`: only each so many-th event that passes is the terminator.
struct Every {
  Location at;
  std::int64_t events = 1;
  Name constant = {};          ///< which gives the number; empty: written as one
  std::vector<Expr> per = {};  ///< attributes of the terminator's type
};

struct Assignment {
  Name attribute;
  Expr value;
};

/// `mean desc`
struct OrderKey {
  Name attribute;  ///< of the composite
  bool descending = false;
};

/// `limit 3`
struct Limit {
  Location at;
  std::int64_t composites = 0;
  Name constant = {};  ///< which gives the number; empty: written as one
};

/// `webhook("ops")`
struct Action {
  Name kind;
  Name target;
};

struct AttributeDeclaration {
  Name name;
  ValueType type;
  bool is_key = false;  ///< of a table
};

struct AnnotationArgument {
  Name name;  ///< a bare argument has an empty one, with its own location
  Value value;
  bool is_time = false;  ///< `value` is nanoseconds: `10 min`
  bool is_word = false;  ///< `value` is a string that stands there as a word
  Location value_at;
};

/// `@engine(cuda)`, `@limit(max_sequences = 100000)`, `@at_most(1, per = 10 min, by = area)`.
struct Annotation {
  Name name;
  std::vector<AnnotationArgument> arguments;
};

/// `Assign n => T`
struct TypeNumber {
  std::int64_t number;
  Name type;
};

struct RuleDefinition {
  Location at;  ///< of the first token: an annotation, `rule`, `Assign` or `define`
  /// The rule's bytes in the source, from its first token to the last one before its `;`; both 0
  /// when it was built without text.
  std::size_t begin_offset = 0, end_offset = 0;
  std::optional<Name> name;
  std::vector<Annotation> annotations;
  std::vector<TypeNumber> numbers;
  bool trex_spelling = false;
  Name type;  ///< the composite event type
  std::vector<AttributeDeclaration> attributes;
  std::variant<Predicate, Timer> terminator;
  std::optional<Every> every;  ///< never with a timer
  std::vector<Clause> clauses;
  std::vector<Assignment> assignments;
  std::vector<OrderKey> order;
  std::optional<Limit> limit;
  std::vector<Name> consuming;
  std::vector<Action> actions;
};

struct EventDeclaration {
  Location at;
  bool internal = false;  ///< `internal event`: not among what `*` stands for
  bool table = false;     ///< `table Customer(id: string key)`
  Name name;
  std::vector<AttributeDeclaration> attributes;
};

using Item = std::variant<EventDeclaration, RuleDefinition>;

/// One rule file. The values of its constants stand in the rules; their names are here.
struct File {
  std::vector<Item> items;
  std::vector<Name> constants;  ///< in the order of the text
};

}  // namespace gorgo::ast
