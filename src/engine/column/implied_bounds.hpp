#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "history/evaluate.hpp"
#include "history/range_index.hpp"

namespace gorgo::engine {

/// What a comparison of floats says about one attribute of the candidate alone: bounds outside of
/// which no event passes. `(x - $x) * (x - $x) + (y - $y) * (y - $y) < 4` leaves the x that are
/// within 2 of `$x`. The bounds are rounded outward, so the condition is still to be tested.
/// (Narrowing of operands from results: Benhamou, Goualard, Granvilliers and Puget, "Revising hull
/// and box consistency", ICLP 1999.) Serves one search at a time.
class ImpliedBounds {
 public:
  /// Returns nothing when the condition is of another kind or bounds no float attribute on both
  /// sides. The condition must stay.
  static std::optional<ImpliedBounds> of(const Expr& condition);

  std::uint32_t attribute() const { return attribute_; }
  /// Leaves no more than what the condition allows; `scope` is that of the search.
  void restrict(history::RangeIndex::Bounds& bounds, const history::Scope& scope);

 private:
  /// Closed; empty when `low > high`.
  struct Interval {
    double low, high;
  };
  enum class Kind : std::uint8_t {
    constant,   ///< `expr`, which mentions no candidate
    attribute,  ///< `attribute`
    number,     ///< some float that is not known
    add,
    subtract,
    multiply,
    divide,
    square,
    negate,
  };
  /// A subexpression; its operands stand before it.
  struct Node {
    Kind kind = Kind::number;
    const Expr* expr = nullptr;
    std::uint32_t attribute = 0;
    std::uint32_t a = 0, b = 0;
    Interval interval{};
  };

  static Interval sum(Interval a, Interval b);
  static Interval difference(Interval a, Interval b);
  static Interval product(Interval a, Interval b);
  static Interval quotient(Interval a, Interval b);
  static Interval square_of(Interval a);
  static Interval root_of(Interval a);
  static Interval relaxed(Interval a);

  std::optional<std::uint32_t> add(const Expr& expr);
  std::optional<std::uint32_t> add_operation(const Expr& expr);
  std::uint32_t add_node(Node node);
  bool choose_attribute();

  /// Bounds every node by its operands, then by what the comparison demands.
  template <class ValueOf>
  void propagate(ValueOf&& value_of);
  Interval forward(const Node& node) const;
  void compare();
  void backward(const Node& node);
  void narrow(std::uint32_t node, Interval to);
  Interval interval_of(std::uint32_t attribute) const;

  Op op_ = Op::less;
  std::uint32_t left_ = 0, right_ = 0;
  std::uint32_t attribute_ = 0;
  std::vector<Node> nodes_;
};

}  // namespace gorgo::engine
