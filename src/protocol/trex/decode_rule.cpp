#include <optional>
#include <utility>

#include "protocol/trex/body_reader.hpp"
#include "protocol/trex/decode.hpp"
#include "protocol/trex/read_lists.hpp"

namespace gorgo::protocol::trex {
namespace {

/// No rule that people write comes near it. It bounds what a packet can make of memory.
constexpr std::size_t kLargestRule = std::size_t{1} << 20;
/// Trees of expressions may be so deep. The stack bounds it, and so does the language.
constexpr int kDeepestTree = 100;

// The fewest bytes that one of them takes, its number in the map included.
constexpr std::size_t kLeastPredicate = 4 + 4 + 4 + 4 + 8 + 1;
constexpr std::size_t kLeastTree = 1 + 1 + 1 + 1 + 1;
constexpr std::size_t kLeastParameter = 4 + 1 + 1 + 1 + 2 * kLeastTree;
constexpr std::size_t kLeastNegation = 4 + 4 + 4 + 4 + 8 + 4;
constexpr std::size_t kLeastAggregate = kLeastNegation + 1 + 4;
constexpr std::size_t kLeastDynamic = 4 + kLeastTree;

class RuleReader {
 public:
  explicit RuleReader(std::span<const std::uint8_t> body) : reader_(body) {}

  Result<Rule> read() {
    Rule rule;
    if (reader_.left() > kLargestRule) reader_.fail("is larger than a rule may be");
    rule.predicates = map<Predicate>(kLeastPredicate, "predicates", &RuleReader::predicate);
    rule.parameters = map<Parameter>(kLeastParameter, "parameters", &RuleReader::parameter);
    rule.aggregates = map<Aggregate>(kLeastAggregate, "aggregates", &RuleReader::aggregate);
    rule.negations = map<Negation>(kLeastNegation, "negations", &RuleReader::negation);
    rule.composite = composite();
    rule.consuming.resize(reader_.count(4, "consumed predicates"));
    for (auto& index : rule.consuming) index = reader_.integer("a consumed predicate");
    if (reader_.failed()) return reader_.error();
    return rule;
  }

 private:
  BodyReader reader_;

  /// The elements in the order of their keys, which must be 0, 1, 2 and so on.
  template <class T>
  std::vector<T> map(std::size_t least, std::string_view what, T (RuleReader::*element)()) {
    const std::size_t size = reader_.count(least, what);
    std::vector<std::optional<T>> found(size);
    for (std::size_t i = 0; i < size && !reader_.failed(); ++i) {
      const auto key = static_cast<std::uint32_t>(reader_.integer("a key"));
      if (key >= size || found[key]) {
        reader_.fail("does not number its " + std::string(what) + " from 0 on");
        break;
      }
      found[key] = (this->*element)();
    }
    std::vector<T> result;
    if (reader_.failed()) return result;
    for (auto& each : found) result.push_back(std::move(*each));
    return result;
  }

  Predicate predicate() {
    Predicate result;
    result.type = reader_.integer("the event type of a predicate");
    result.constraints = read_constraints(reader_);
    result.refers_to = reader_.integer("a reference to a predicate");
    result.window = reader_.long_integer("a window");
    result.selection = reader_.choice(Selection::all, "a selection");
    return result;
  }

  Parameter parameter() {
    Parameter result;
    result.comparison = reader_.choice(Comparison::greater_equal, "a comparison");
    result.part = part();
    result.type = reader_.choice(ValueType::string, "the type of a value");
    result.left = tree(kDeepestTree);
    result.right = tree(kDeepestTree);
    return result;
  }

  Aggregate aggregate() {
    Aggregate result;
    result.type = reader_.integer("the event type of an aggregate");
    result.constraints = read_constraints(reader_);
    result.span = span();
    result.function = reader_.choice(Function::sum, "an aggregate function");
    result.attribute = reader_.text("a name");
    return result;
  }

  Negation negation() {
    Negation result;
    result.type = reader_.integer("the event type of a negation");
    result.constraints = read_constraints(reader_);
    result.span = span();
    return result;
  }

  Span span() {
    Span result;
    result.lower = reader_.integer("a reference to a predicate");
    result.time = reader_.long_integer("a window");
    result.upper = reader_.integer("a reference to a predicate");
    return result;
  }

  Template composite() {
    Template result;
    result.type = reader_.integer("the event type of the composite");
    result.attributes.resize(reader_.count(kLeastDynamic, "attributes"));
    for (auto& attribute : result.attributes) {
      attribute.name = reader_.text("a name");
      attribute.value = tree(kDeepestTree);
      if (reader_.failed()) break;
    }
    read_attributes(reader_, result.constants);
    return result;
  }

  Tree tree(int deeper) {
    Tree result;
    if (deeper == 0) reader_.fail("has an expression that is too deep");
    const auto inner = reader_.choice(std::uint8_t{1}, "a kind of node");
    result.type = reader_.choice(ValueType::string, "the type of a node");
    if (reader_.failed()) return result;
    if (inner == 0) {
      leaf(result);
      return result;
    }
    Tree::Inner node;
    node.operands.push_back(tree(deeper - 1));
    node.operands.push_back(tree(deeper - 1));
    node.operation = reader_.choice(Operation::disj, "an operation");
    result.node = std::move(node);
    return result;
  }

  void leaf(Tree& result) {
    if (reader_.choice(std::uint8_t{1}, "a kind of leaf") == 1) {
      result.node = reader_.literal();
      return;
    }
    Reference reference;
    reference.index = reader_.integer("a reference");
    reference.part = part();
    reference.attribute = reader_.text("a name");
    result.node = reference;
  }

  Part part() { return reader_.choice(Part::aggregate, "a part of a rule"); }
};

}  // namespace

Result<Rule> decode_rule(std::span<const std::uint8_t> body) { return RuleReader(body).read(); }

}  // namespace gorgo::protocol::trex
