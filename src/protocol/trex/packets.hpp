#pragma once

#include <cstdint>
#include <string_view>
#include <variant>
#include <vector>

#include "gorgo/value.hpp"

/// The packets of the T-Rex protocol (docs/trex.md). Their texts are bytes of ISO-8859-1, and refer
/// to the bytes that a packet was decoded from.
namespace gorgo::protocol::trex {

/// The first byte of a packet.
enum class Kind : std::uint8_t {
  publication = 0,
  rule = 1,
  subscription = 2,
  unsubscription = 100,
  ping = 101,
};

/// The values are those on the wire.
enum class Comparison : std::uint8_t {
  equal = 0,
  less = 1,
  greater = 2,
  not_equal = 3,
  contains = 4,
  less_equal = 5,
  greater_equal = 6,
};
enum class Selection : std::uint8_t { each = 0, first = 1, last = 2, all = 3 };
enum class Function : std::uint8_t { none = 0, avg = 1, count = 2, min = 3, max = 4, sum = 5 };
enum class Operation : std::uint8_t { add = 0, sub = 1, mul = 2, div = 3, conj = 4, disj = 5 };
/// What a parameter restricts, or what a reference refers to.
enum class Part : std::uint8_t { state = 0, negation = 1, aggregate = 2 };

/// The alternatives stand in the order of `ValueType`, which is that of the wire.
using Literal = std::variant<std::int32_t, float, bool, std::string_view>;

inline ValueType type_of(const Literal& value) { return static_cast<ValueType>(value.index()); }

struct Attribute {
  std::string_view name;
  Literal value;

  friend bool operator==(const Attribute&, const Attribute&) = default;
};

struct Constraint {
  std::string_view name;
  Comparison comparison = Comparison::equal;
  Literal value;

  friend bool operator==(const Constraint&, const Constraint&) = default;
};

struct Publication {
  std::int32_t type = 0;
  std::int64_t timestamp = 0;  ///< milliseconds since the Unix epoch; 0: the server stamps
  std::vector<Attribute> attributes;

  friend bool operator==(const Publication&, const Publication&) = default;
};

/// An unsubscription has the same content.
struct Subscription {
  std::int32_t type = 0;
  std::vector<Constraint> constraints;

  friend bool operator==(const Subscription&, const Subscription&) = default;
};

/// An attribute of a chosen event, of the candidate of a negation or an aggregate, or, as an
/// aggregate without a name, the aggregate's value.
struct Reference {
  std::int32_t index = 0;
  Part part = Part::state;
  std::string_view attribute;

  friend bool operator==(const Reference&, const Reference&) = default;
};

/// An expression.
struct Tree {
  struct Inner {
    Operation operation = Operation::add;
    std::vector<Tree> operands;  ///< two

    friend bool operator==(const Inner&, const Inner&) = default;
  };

  ValueType type = ValueType::integer;
  std::variant<Literal, Reference, Inner> node;

  friend bool operator==(const Tree&, const Tree&) = default;
};

struct Predicate {
  std::int32_t type = 0;
  std::vector<Constraint> constraints;
  std::int32_t refers_to = -1;  ///< the number of an earlier predicate
  std::int64_t window = 0;      ///< milliseconds
  Selection selection = Selection::each;

  friend bool operator==(const Predicate&, const Predicate&) = default;
};

struct Parameter {
  Comparison comparison = Comparison::equal;
  Part part = Part::state;
  ValueType type = ValueType::integer;
  Tree left;
  Tree right;

  friend bool operator==(const Parameter&, const Parameter&) = default;
};

/// Between two states, or, with a negative `lower`, within a time before one.
struct Span {
  std::int32_t lower = -1;
  std::int64_t time = 0;  ///< milliseconds
  std::int32_t upper = 0;

  friend bool operator==(const Span&, const Span&) = default;
};

struct Negation {
  std::int32_t type = 0;
  std::vector<Constraint> constraints;
  Span span;

  friend bool operator==(const Negation&, const Negation&) = default;
};

struct Aggregate {
  std::int32_t type = 0;
  std::vector<Constraint> constraints;
  Span span;
  Function function = Function::none;
  std::string_view attribute;

  friend bool operator==(const Aggregate&, const Aggregate&) = default;
};

struct Template {
  struct Dynamic {
    std::string_view name;
    Tree value;

    friend bool operator==(const Dynamic&, const Dynamic&) = default;
  };

  std::int32_t type = 0;
  std::vector<Dynamic> attributes;
  std::vector<Attribute> constants;  ///< behind `attributes` in the composite

  friend bool operator==(const Template&, const Template&) = default;
};

/// Predicate 0 is the terminator, whose `refers_to`, `window` and `selection` mean nothing. The
/// vectors stand in the order of their numbers on the wire.
struct Rule {
  std::vector<Predicate> predicates;
  std::vector<Parameter> parameters;
  std::vector<Aggregate> aggregates;
  std::vector<Negation> negations;
  Template composite;
  std::vector<std::int32_t> consuming;  ///< numbers of predicates, and sometimes nonsense

  friend bool operator==(const Rule&, const Rule&) = default;
};

}  // namespace gorgo::protocol::trex
