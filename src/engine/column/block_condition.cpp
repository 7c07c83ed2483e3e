#include "engine/column/block_condition.hpp"

#include <algorithm>
#include <bit>

namespace gorgo::engine {
namespace {

bool is_candidate_attribute(const Expr& expr, ValueType type) {
  return expr.op == Op::attribute && expr.source == kCandidate && expr.type == type;
}

std::uint64_t word_of(const Datum& number) {
  return number.tag == Datum::Tag::floating ? std::bit_cast<std::uint64_t>(number.floating)
                                            : std::bit_cast<std::uint64_t>(number.integer);
}

}  // namespace

std::optional<BlockCondition> BlockCondition::compile(const Expr& condition) {
  BlockCondition compiled;
  if (!compiled.add(condition, compiled.root_)) return std::nullopt;
  return compiled;
}

std::optional<BlockCondition> BlockCondition::compile(const plan::Comparison& comparison) {
  BlockCondition compiled;
  const bool done = compiled.add_comparison(comparison.op, comparison.subject, comparison.operand,
                                            compiled.root_);
  if (!done) return std::nullopt;
  return compiled;
}

bool BlockCondition::add(const Expr& condition, Node& node) {
  const bool connective = condition.op == Op::logical_and || condition.op == Op::logical_or ||
                          condition.op == Op::logical_not;
  if (!connective) {
    return comparison_index(condition.op) &&
           add_comparison(condition.op, condition.args[0], condition.args[1], node);
  }
  node.op = condition.op;
  node.args.resize(condition.args.size());
  for (std::size_t i = 0; i < node.args.size(); ++i) {
    if (!add(condition.args[i], node.args[i])) return false;
  }
  return true;
}

bool BlockCondition::add_comparison(Op op, const Expr& left, const Expr& right, Node& node) {
  const auto index = comparison_index(op);
  if (!index || left.type != right.type) return false;
  const bool floats = left.type == ValueType::floating;
  if (!floats && left.type != ValueType::integer) return false;
  node.op = op;
  node.compare = floats ? kernels_->compare_floats[*index] : kernels_->compare_ints[*index];
  node.first_register = static_cast<std::uint32_t>(registers_.size());
  node.first_step = static_cast<std::uint32_t>(steps_.size());
  const auto a = floats ? add_float(left) : add_int(left);
  const auto b = floats ? add_float(right) : add_int(right);
  if (!a || !b) return false;
  known_.clear();
  node.a = *a;
  node.b = *b;
  node.last_register = static_cast<std::uint32_t>(registers_.size());
  node.last_step = static_cast<std::uint32_t>(steps_.size());
  operations_ += node.last_step - node.first_step + 1;
  return true;
}

std::uint32_t BlockCondition::add_register(Register added) {
  registers_.push_back(std::move(added));
  return static_cast<std::uint32_t>(registers_.size() - 1);
}

std::optional<std::uint32_t> BlockCondition::add_int(const Expr& expr) {
  using Source = Register::Source;
  if (!plan::mentions_candidate(expr)) {
    return add_register({.source = Source::constant, .expr = &expr});
  }
  if (!is_candidate_attribute(expr, ValueType::integer)) return std::nullopt;
  return add_register({.source = Source::attribute, .attribute = expr.index});
}

/// A subexpression that stands there twice is calculated once.
std::optional<std::uint32_t> BlockCondition::add_float(const Expr& expr) {
  const std::string name = plan::fingerprint(expr);
  if (const auto known = known_.find(name); known != known_.end()) return known->second;
  const auto added = add_new_float(expr);
  if (added) known_[name] = *added;
  return added;
}

std::optional<std::uint32_t> BlockCondition::add_new_float(const Expr& expr) {
  using Source = Register::Source;
  if (!plan::mentions_candidate(expr)) {
    return add_register({.source = Source::constant, .expr = &expr});
  }
  if (is_candidate_attribute(expr, ValueType::floating)) {
    return add_register({.source = Source::attribute, .attribute = expr.index});
  }
  if (expr.op != Op::to_float) return add_calculation(expr);
  const Expr& number = expr.args[0];
  if (number.type == ValueType::floating) return add_float(number);
  if (!is_candidate_attribute(number, ValueType::integer)) return std::nullopt;
  return add_register({.source = Source::int_attribute_as_float, .attribute = number.index});
}

std::optional<std::uint32_t> BlockCondition::add_calculation(const Expr& expr) {
  BlockKernels::Calculate calculate = nullptr;
  switch (expr.op) {
    case Op::add:
      calculate = kernels_->add;
      break;
    case Op::subtract:
      calculate = kernels_->subtract;
      break;
    case Op::multiply:
    case Op::negate:  // -1 * x is -x, for zeros, too
      calculate = kernels_->multiply;
      break;
    case Op::divide:
      calculate = kernels_->divide;
      break;
    default:
      return std::nullopt;
  }
  const bool unary = expr.op == Op::negate;
  const auto a = add_float(expr.args[0]);
  const auto b =
      unary ? add_register({.source = Register::Source::constant, .fixed = Datum::of(-1.0)})
            : add_float(expr.args[1]);
  if (!a || !b) return std::nullopt;
  const std::uint32_t out = add_register({});
  steps_.push_back({.calculate = calculate, .out = out, .a = *a, .b = *b});
  return out;
}

bool BlockCondition::bind(const history::Scope& scope) {
  for (Register& r : registers_) {
    r.own.resize(kBlock);
    r.at = r.own.data();
    if (r.source != Register::Source::constant) continue;
    if (r.expr != nullptr) r.fixed = history::evaluate(*r.expr, scope);
    if (r.fixed.exists()) std::fill(r.own.begin(), r.own.end(), word_of(r.fixed));
  }
  bind(root_);
  return root_.known;
}

/// A comparison with no value does not hold.
void BlockCondition::bind(Node& node) {
  for (Node& arg : node.args) bind(arg);
  const auto first = registers_.begin() + node.first_register;
  const auto last = registers_.begin() + node.last_register;
  node.known = std::all_of(first, last, [](const Register& r) {
    return r.source != Register::Source::constant || r.fixed.exists();
  });
}

void BlockCondition::test(const history::Timeline& timeline, std::uint64_t first,
                          std::uint64_t count, BlockMask& mask) {
  test({.timeline = &timeline, .first = first, .slots = {}, .count = count}, mask);
}

void BlockCondition::test(const history::EventStore& store, std::span<const history::Slot> slots,
                          BlockMask& mask) {
  test({.store = &store, .slots = slots, .count = slots.size()}, mask);
}

void BlockCondition::test(const Block& block, BlockMask& mask) {
  const BlockMask passed = test(root_, block);
  for (std::size_t w = 0; w < block.words(); ++w) mask[w] &= passed[w];
}

BlockMask BlockCondition::test(const Node& node, const Block& block) {
  BlockMask mask{};
  if (node.args.empty()) return node.known ? compare(node, block) : mask;
  mask = test(node.args[0], block);
  if (node.op == Op::logical_not) {
    for (auto& word : mask) word = ~word;
  }
  for (std::size_t i = 1; i < node.args.size(); ++i) {
    const BlockMask other = test(node.args[i], block);
    for (std::size_t w = 0; w < block.words(); ++w) {
      node.op == Op::logical_and ? mask[w] &= other[w] : mask[w] |= other[w];
    }
  }
  return mask;
}

BlockMask BlockCondition::compare(const Node& node, const Block& block) {
  for (std::uint32_t i = node.first_register; i < node.last_register; ++i) {
    if (is_attribute(registers_[i])) load(registers_[i], block);
  }
  for (std::uint32_t i = node.first_step; i < node.last_step; ++i) {
    const Step& step = steps_[i];
    step.calculate(registers_[step.out].own.data(), registers_[step.a].at, registers_[step.b].at,
                   block.words());
  }
  BlockMask mask{};
  node.compare(mask, registers_[node.a].at, registers_[node.b].at, block.words());
  for (std::uint32_t i = node.first_register; i < node.last_register; ++i) {
    if (is_attribute(registers_[i])) keep_present(registers_[i], block, mask);
  }
  return mask;
}

void BlockCondition::keep_present(const Register& r, const Block& block, BlockMask& mask) {
  const history::AttributeVector& attribute = block.attribute(r.attribute);
  if (!attribute.is_nullable()) return;
  for (std::uint64_t i = 0; i < block.count; ++i) {
    if (*attribute.present(block.position(i)) == 0) mask[i / 64] &= ~(std::uint64_t{1} << i % 64);
  }
}

void BlockCondition::load(Register& r, const Block& block) {
  const history::AttributeVector& attribute = block.attribute(r.attribute);
  const bool convert = r.source == Register::Source::int_attribute_as_float;
  if (!convert && block.timeline != nullptr && block.count % 64 == 0) {
    r.at = attribute.words(block.first);
    return;
  }
  for (std::uint64_t i = 0; i < block.count; ++i) r.own[i] = *attribute.words(block.position(i));
  for (std::uint64_t i = 0; convert && i < block.count; ++i) {
    const auto number = static_cast<double>(std::bit_cast<std::int64_t>(r.own[i]));
    r.own[i] = std::bit_cast<std::uint64_t>(number);
  }
  r.at = r.own.data();
}

}  // namespace gorgo::engine
