#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/column/block_kernels.hpp"
#include "history/evaluate.hpp"
#include "history/timeline.hpp"
#include "plan/plan.hpp"

namespace gorgo::engine {

/// A condition on the candidate that is tested on a block of events at a time: comparisons of
/// floats, calculated from float and int attributes of the candidate and from what the sequence
/// says, or of int attributes with ints; and `and`, `or`, `not` of such. Serves one search at a
/// time.
class BlockCondition {
 public:
  /// Returns nothing when the condition is of another kind. The expressions must stay.
  static std::optional<BlockCondition> compile(const Expr& condition);
  static std::optional<BlockCondition> compile(const plan::Comparison& comparison);

  /// How many operations it does on an event.
  std::size_t operations() const { return operations_; }

  /// Begins a search. Returns false when no event can pass.
  bool bind(const history::Scope& scope);
  /// Clears the bits of events at `first + i`, i < count <= kBlock, that do not pass. Precondition:
  /// the attributes that the condition reads are materialised.
  void test(const history::Timeline& timeline, std::uint64_t first, std::uint64_t count,
            BlockMask& mask);
  /// Clears the bits of events at `slots[i]` that do not pass; there are at most kBlock.
  void test(const history::EventStore& store, std::span<const history::Slot> slots,
            BlockMask& mask);

 private:
  /// The values of a subexpression for each event of a block.
  struct Register {
    enum class Source : std::uint8_t { attribute, int_attribute_as_float, constant, calculated };
    Source source = Source::calculated;
    std::uint32_t attribute = 0;
    const Expr* expr = nullptr;         ///< constant
    Datum fixed;                        ///< constant without an expression
    const std::uint64_t* at = nullptr;  ///< kBlock words
    std::vector<std::uint64_t> own;     ///< kBlock words, unless attributes are read in place
  };
  struct Step {
    BlockKernels::Calculate calculate;
    std::uint32_t out, a, b;
  };
  /// Comparisons have steps and registers of their own.
  struct Node {
    Op op = Op::equal;
    std::vector<Node> args;  ///< of and, or, not
    BlockKernels::Compare compare = nullptr;
    std::uint32_t a = 0, b = 0;
    std::uint32_t first_register = 0, last_register = 0;
    std::uint32_t first_step = 0, last_step = 0;
    bool known = true;  ///< every constant has a value
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

  BlockCondition() = default;

  bool add(const Expr& condition, Node& node);
  bool add_comparison(Op op, const Expr& left, const Expr& right, Node& node);
  std::optional<std::uint32_t> add_float(const Expr& expr);
  std::optional<std::uint32_t> add_new_float(const Expr& expr);
  std::optional<std::uint32_t> add_int(const Expr& expr);
  std::optional<std::uint32_t> add_calculation(const Expr& expr);
  std::uint32_t add_register(Register added);

  void bind(Node& node);
  static bool is_attribute(const Register& r) {
    return r.source == Register::Source::attribute ||
           r.source == Register::Source::int_attribute_as_float;
  }
  static void load(Register& attribute, const Block& block);
  static void keep_present(const Register& attribute, const Block& block, BlockMask& mask);
  void test(const Block& block, BlockMask& mask);
  BlockMask test(const Node& node, const Block& block);
  BlockMask compare(const Node& node, const Block& block);

  const BlockKernels* kernels_ = block_kernels().front();
  std::vector<Register> registers_;
  std::vector<Step> steps_;
  std::size_t operations_ = 0;  // steps and comparisons
  Node root_;
  std::map<std::string, std::uint32_t> known_;  // by fingerprint, of the comparison being compiled
};

}  // namespace gorgo::engine
