#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "engine/column/block_kernels.hpp"
#include "history/evaluate.hpp"
#include "history/timeline.hpp"
#include "plan/plan.hpp"

namespace gorgo::engine {

/// A condition on the candidate that is tested on a block of events at a time: comparisons of
/// floats, calculated from float and int attributes of the candidate and from what the sequence
/// says, or of int attributes with ints; and `and`, `or`, `not` of such. Has one block in hand, on
/// which any number of searches may be tested.
class BlockCondition {
 public:
  /// What the sequence of one search says.
  struct Binding {
    bool possible = false;             ///< whether any event can pass
    std::vector<std::uint64_t> words;  ///< by constant
    std::vector<bool> known;           ///< by constant: whether it has a value
  };

  /// Returns nothing when the condition is of another kind. The expressions must stay.
  static std::optional<BlockCondition> compile(const Expr& condition);
  static std::optional<BlockCondition> compile(const plan::Comparison& comparison);

  /// How many operations it does on an event.
  std::size_t operations() const { return operations_; }

  void bind(const history::Scope& scope, Binding& binding) const;

  /// Takes the events at `first + i`, i < count <= kBlock, in hand. Precondition: the attributes
  /// that the condition reads are materialised.
  void enter(const history::Timeline& timeline, std::uint64_t first, std::uint64_t count);
  /// Takes the events at `slots[i]` in hand; there are at most kBlock. The slots must stay.
  void enter(const history::EventStore& store, std::span<const history::Slot> slots);
  /// Clears the bits of events of the block that do not pass. Precondition: some may pass.
  void test(const Binding& binding, BlockMask& mask);

 private:
  /// The values of a subexpression for each event of a block.
  struct Register {
    enum class Source : std::uint8_t { attribute, int_attribute_as_float, constant, calculated };
    Source source = Source::calculated;
    std::uint32_t index = 0;            ///< of the attribute or the constant
    const std::uint64_t* at = nullptr;  ///< kBlock words; null for a constant
    std::vector<std::uint64_t> own;     ///< kBlock words, unless attributes are read in place
  };
  /// A calculation with two operands, or a sum with pairs of a vector and a constant.
  struct Step {
    std::uint32_t out = 0;
    BlockKernels::Calculate calculate = nullptr;
    std::uint32_t a = 0, b = 0;
    BlockKernels::Sum sum = nullptr;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> terms;
  };
  /// Comparisons have steps and registers of their own.
  struct Node {
    Op op = Op::equal;
    std::vector<Node> args;  ///< of and, or, not
    BlockKernels::Compare compare = nullptr;
    std::uint32_t a = 0, b = 0;
    std::uint32_t first_register = 0, last_register = 0;
    std::uint32_t first_step = 0, last_step = 0;
  };
  /// Events that follow each other in a timeline, or some of a store.
  struct Block {
    const history::Timeline* timeline = nullptr;
    std::uint64_t first = 0;
    const history::EventStore* store = nullptr;
    std::span<const history::Slot> slots;
    std::uint64_t count = 0;

    std::size_t words() const { return (count + 63) / 64; }
    const history::AttributeVector& attribute(std::uint32_t index) const {
      return timeline != nullptr ? timeline->attribute(index) : store->attribute_vector(index);
    }
    std::uint64_t position(std::uint64_t i) const {
      return timeline != nullptr ? first + i : slots[i];
    }
  };
  /// An expression, or a value that stands in none.
  struct Constant {
    const Expr* expr = nullptr;
    Datum fixed;
  };

  BlockCondition() = default;

  bool add(const Expr& condition, Node& node);
  bool add_comparison(Op op, const Expr& left, const Expr& right, Node& node);
  std::optional<std::uint32_t> add_float(const Expr& expr);
  std::optional<std::uint32_t> add_new_float(const Expr& expr);
  std::optional<std::uint32_t> add_int(const Expr& expr);
  std::optional<std::uint32_t> add_calculation(const Expr& expr);
  std::optional<std::uint32_t> add_sum(const Expr& expr);
  std::uint32_t add_constant(Constant constant);
  std::uint32_t add_register(Register added);
  std::size_t shape(std::uint32_t a, std::uint32_t b) const {
    return BlockKernels::shape(is_constant(a), is_constant(b));
  }

  bool is_constant(std::uint32_t index) const {
    return registers_[index].source == Register::Source::constant;
  }
  static bool is_attribute(const Register& r) {
    return r.source == Register::Source::attribute ||
           r.source == Register::Source::int_attribute_as_float;
  }
  bool is_known(const Node& node, const Binding& binding) const;
  void enter(const Block& block);
  void load(Register& attribute) const;
  void keep_present(const Register& attribute, BlockMask& mask) const;
  BlockMask test(const Node& node, const Binding& binding);
  BlockMask compare(const Node& node, const Binding& binding);
  void carry_out(const Step& step, const Binding& binding);
  const std::uint64_t* words(std::uint32_t index, const Binding& binding) const {
    const Register& r = registers_[index];
    return r.source == Register::Source::constant ? &binding.words[r.index] : r.at;
  }

  const BlockKernels* kernels_ = block_kernels().front();
  std::vector<Register> registers_;
  std::vector<Constant> constants_;
  std::vector<Step> steps_;
  std::size_t operations_ = 0;  // steps and comparisons
  Node root_;
  std::map<std::string, std::uint32_t> known_;  // by fingerprint, of the comparison being compiled
  Block block_;                                 // the one in hand
  bool is_nullable_ = false;                    // whether its events may lack an attribute
};

}  // namespace gorgo::engine
