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

/// So many terms are added up in one step at most.
constexpr std::size_t kMostTerms = 16;

/// A term of a sum: value * constant, or (value - constant) * (value - constant), where the value
/// depends on the candidate and the constant does not. Null: another one.
struct SumTerm {
  const Expr* value = nullptr;
  const Expr* constant = nullptr;
  bool is_square = false;
};

SumTerm term_of(const Expr& expr) {
  if (expr.op != Op::multiply) return {};
  const Expr &a = expr.args[0], &b = expr.args[1];
  const bool is_a_value = plan::mentions_candidate(a), is_b_value = plan::mentions_candidate(b);
  if (is_a_value && !is_b_value) return {&a, &b, false};
  if (is_b_value && !is_a_value) return {&b, &a, false};
  const bool from_constant = a.op == Op::subtract && plan::mentions_candidate(a.args[0]) &&
                             !plan::mentions_candidate(a.args[1]);
  if (!from_constant || plan::fingerprint(a) != plan::fingerprint(b)) return {};
  return {&a.args[0], &a.args[1], true};
}

/// What the expression adds up, in this order.
std::vector<SumTerm> terms_of(const Expr& expr) {
  if (expr.op != Op::add) return {term_of(expr)};
  std::vector<SumTerm> terms = terms_of(expr.args[0]);
  terms.push_back(term_of(expr.args[1]));
  return terms;
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
  node.first_register = static_cast<std::uint32_t>(registers_.size());
  node.first_step = static_cast<std::uint32_t>(steps_.size());
  const auto a = floats ? add_float(left) : add_int(left);
  const auto b = floats ? add_float(right) : add_int(right);
  if (!a || !b) return false;
  known_.clear();
  node.a = *a;
  node.b = *b;
  const auto& loops = floats ? kernels_->compare_floats[*index] : kernels_->compare_ints[*index];
  node.compare = loops[shape(*a, *b)];
  node.last_register = static_cast<std::uint32_t>(registers_.size());
  node.last_step = static_cast<std::uint32_t>(steps_.size());
  ++operations_;
  return true;
}

std::uint32_t BlockCondition::add_register(Register added) {
  registers_.push_back(std::move(added));
  return static_cast<std::uint32_t>(registers_.size() - 1);
}

std::uint32_t BlockCondition::add_constant(Constant constant) {
  constants_.push_back(constant);
  return add_register({.source = Register::Source::constant,
                       .index = static_cast<std::uint32_t>(constants_.size() - 1)});
}

std::optional<std::uint32_t> BlockCondition::add_int(const Expr& expr) {
  using Source = Register::Source;
  if (!plan::mentions_candidate(expr)) return add_constant({.expr = &expr});
  if (!is_candidate_attribute(expr, ValueType::integer)) return std::nullopt;
  return add_register({.source = Source::attribute, .index = expr.index});
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
  if (!plan::mentions_candidate(expr)) return add_constant({.expr = &expr});
  if (is_candidate_attribute(expr, ValueType::floating)) {
    return add_register({.source = Source::attribute, .index = expr.index});
  }
  if (expr.op != Op::to_float) return add_calculation(expr);
  const Expr& number = expr.args[0];
  if (number.type == ValueType::floating) return add_float(number);
  if (!is_candidate_attribute(number, ValueType::integer)) return std::nullopt;
  return add_register({.source = Source::int_attribute_as_float, .index = number.index});
}

std::optional<std::uint32_t> BlockCondition::add_calculation(const Expr& expr) {
  if (const auto sum = add_sum(expr)) return sum;
  const BlockKernels::ByShape<BlockKernels::Calculate>* loops = nullptr;
  switch (expr.op) {
    case Op::add:
      loops = &kernels_->add;
      break;
    case Op::subtract:
      loops = &kernels_->subtract;
      break;
    case Op::multiply:
    case Op::negate:  // -1 * x is -x, for zeros, too
      loops = &kernels_->multiply;
      break;
    case Op::divide:
      loops = &kernels_->divide;
      break;
    default:
      return std::nullopt;
  }
  const auto a = add_float(expr.args[0]);
  const auto b = expr.op == Op::negate ? add_constant({.expr = nullptr, .fixed = Datum::of(-1.0)})
                                       : add_float(expr.args[1]);
  if (!a || !b) return std::nullopt;
  const std::uint32_t out = add_register({});
  Step step{.out = out, .calculate = (*loops)[shape(*a, *b)], .a = *a, .b = *b};
  steps_.push_back(std::move(step));
  ++operations_;
  return out;
}

/// Adds a sum of products with constants, or of squared differences from them, as one step.
std::optional<std::uint32_t> BlockCondition::add_sum(const Expr& expr) {
  const auto terms = terms_of(expr);
  if (terms.size() < 2 || terms.size() > kMostTerms) return std::nullopt;
  const bool squares = terms.front().is_square;
  const bool alike = std::ranges::all_of(terms, [&](const SumTerm& term) {
    return term.value != nullptr && term.is_square == squares;
  });
  if (!alike) return std::nullopt;
  Step step{.sum = squares ? kernels_->sum_squares : kernels_->sum_products};
  for (const SumTerm& term : terms) {
    const auto value = add_float(*term.value), constant = add_float(*term.constant);
    if (!value || !constant) return std::nullopt;
    step.terms.emplace_back(*value, *constant);
  }
  const std::uint32_t out = step.out = add_register({});
  steps_.push_back(std::move(step));
  operations_ += terms.size() * (squares ? 3 : 2) - 1;
  return out;
}

void BlockCondition::bind(const history::Scope& scope, Binding& binding) const {
  binding.words.assign(constants_.size(), 0);
  binding.known.assign(constants_.size(), false);
  for (std::size_t i = 0; i < constants_.size(); ++i) {
    const Constant& constant = constants_[i];
    const Datum value =
        constant.expr == nullptr ? constant.fixed : history::evaluate(*constant.expr, scope);
    if (!value.exists()) continue;
    binding.words[i] = word_of(value);
    binding.known[i] = true;
  }
  binding.possible = !root_.args.empty() || is_known(root_, binding);
}

/// A comparison with no value does not hold.
bool BlockCondition::is_known(const Node& node, const Binding& binding) const {
  const auto first = registers_.begin() + node.first_register;
  const auto last = registers_.begin() + node.last_register;
  return std::all_of(first, last, [&](const Register& r) {
    return r.source != Register::Source::constant || binding.known[r.index];
  });
}

void BlockCondition::enter(const history::Timeline& timeline, std::uint64_t first,
                           std::uint64_t count) {
  enter({.timeline = &timeline, .first = first, .slots = {}, .count = count});
}

void BlockCondition::enter(const history::EventStore& store, std::span<const history::Slot> slots) {
  enter({.store = &store, .slots = slots, .count = slots.size()});
}

void BlockCondition::enter(const Block& block) {
  block_ = block;
  is_nullable_ = false;
  for (Register& r : registers_) {
    if (r.source == Register::Source::constant) continue;
    r.own.resize(kBlock);
    r.at = r.own.data();
    if (!is_attribute(r)) continue;
    load(r);
    is_nullable_ = is_nullable_ || block.attribute(r.index).is_nullable();
  }
}

void BlockCondition::test(const Binding& binding, BlockMask& mask) {
  const BlockMask passed = root_.args.empty() ? compare(root_, binding) : test(root_, binding);
  for (std::size_t w = 0; w < block_.words(); ++w) mask[w] &= passed[w];
}

BlockMask BlockCondition::test(const Node& node, const Binding& binding) {
  BlockMask mask{};
  if (node.args.empty()) return is_known(node, binding) ? compare(node, binding) : mask;
  mask = test(node.args[0], binding);
  if (node.op == Op::logical_not) {
    for (auto& word : mask) word = ~word;
  }
  for (std::size_t i = 1; i < node.args.size(); ++i) {
    const BlockMask other = test(node.args[i], binding);
    for (std::size_t w = 0; w < block_.words(); ++w) {
      node.op == Op::logical_and ? mask[w] &= other[w] : mask[w] |= other[w];
    }
  }
  return mask;
}

BlockMask BlockCondition::compare(const Node& node, const Binding& binding) {
  for (std::uint32_t i = node.first_step; i < node.last_step; ++i) carry_out(steps_[i], binding);
  BlockMask mask{};
  node.compare(mask, words(node.a, binding), words(node.b, binding), block_.words());
  for (std::uint32_t i = node.first_register; is_nullable_ && i < node.last_register; ++i) {
    if (is_attribute(registers_[i])) keep_present(registers_[i], mask);
  }
  return mask;
}

void BlockCondition::carry_out(const Step& step, const Binding& binding) {
  std::uint64_t* const out = registers_[step.out].own.data();
  if (step.calculate != nullptr) {
    step.calculate(out, words(step.a, binding), words(step.b, binding), block_.words());
    return;
  }
  std::array<BlockKernels::Term, kMostTerms> terms;
  for (std::size_t t = 0; t < step.terms.size(); ++t) {
    const auto [value, constant] = step.terms[t];
    terms[t] = {words(value, binding), std::bit_cast<double>(*words(constant, binding))};
  }
  step.sum(out, std::span(terms).first(step.terms.size()), block_.words());
}

void BlockCondition::keep_present(const Register& r, BlockMask& mask) const {
  const history::AttributeVector& attribute = block_.attribute(r.index);
  if (!attribute.is_nullable()) return;
  for (std::uint64_t i = 0; i < block_.count; ++i) {
    if (*attribute.present(block_.position(i)) == 0) mask[i / 64] &= ~(std::uint64_t{1} << i % 64);
  }
}

void BlockCondition::load(Register& r) const {
  const history::AttributeVector& attribute = block_.attribute(r.index);
  const bool convert = r.source == Register::Source::int_attribute_as_float;
  if (!convert && block_.timeline != nullptr && block_.count % 64 == 0) {
    r.at = attribute.words(block_.first);
    return;
  }
  for (std::uint64_t i = 0; i < block_.count; ++i) r.own[i] = *attribute.words(block_.position(i));
  for (std::uint64_t i = 0; convert && i < block_.count; ++i) {
    const auto number = static_cast<double>(std::bit_cast<std::int64_t>(r.own[i]));
    r.own[i] = std::bit_cast<std::uint64_t>(number);
  }
}

}  // namespace gorgo::engine
