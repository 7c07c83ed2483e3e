#include "engine/cuda/program.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <utility>

#include "functions/catalogue.hpp"

namespace gorgo::engine {
namespace {

using gpu::Code;
using gpu::Instruction;
using gpu::Kind;

/// How operands of these types are compared, strings by their codes.
Kind kind_of(ValueType a, ValueType b) {
  switch (a) {
    case ValueType::integer:
      return b == ValueType::floating ? Kind::integer_float : Kind::integers;
    case ValueType::floating:
      return b == ValueType::floating ? Kind::floats : Kind::float_integer;
    case ValueType::boolean:
    case ValueType::string:
      break;
  }
  return Kind::words;
}

/// Whether strings are compared by order or part.
bool compares_texts(Op op, ValueType operands) {
  return operands == ValueType::string && op != Op::equal && op != Op::not_equal;
}

constexpr Field kTimestamp{.kind = Field::Kind::timestamp};
constexpr Field kConsumer{.kind = Field::Kind::consumer};

Field value_of(std::uint32_t attribute) { return {.attribute = attribute}; }
Field text_of(std::uint32_t attribute) {
  return {.kind = Field::Kind::text, .attribute = attribute};
}

std::uint16_t number_of(const Field& field, std::vector<Field>& among) {
  const auto known = std::ranges::find(among, field);
  const auto number = static_cast<std::uint16_t>(known - among.begin());
  if (known == among.end()) among.push_back(field);
  return number;
}

bool reads(const Expr& expr, std::uint32_t state) {
  const bool reads_event =
      expr.op == Op::attribute || expr.op == Op::timestamp || expr.op == Op::present;
  if (reads_event && expr.source == static_cast<std::int32_t>(state)) return true;
  return std::ranges::any_of(expr.args, [&](const Expr& arg) { return reads(arg, state); });
}

bool depends_on(const Span& span, std::uint32_t state) {
  return span.first == state || (span.kind == SpanKind::between && span.second == state);
}

bool is_same(const Value& a, const Value& b) {
  if (a.index() != b.index()) return false;
  const auto* const number = std::get_if<double>(&a);
  if (number == nullptr) return a == b;
  return std::bit_cast<std::uint64_t>(*number) == std::bit_cast<std::uint64_t>(std::get<double>(b));
}

bool is_same(const Expr& a, const Expr& b) {
  return a.op == b.op && a.type == b.type && a.source == b.source && a.index == b.index &&
         is_same(a.constant, b.constant) && a.function == b.function &&
         std::ranges::equal(a.args, b.args,
                            [](const Expr& x, const Expr& y) { return is_same(x, y); });
}

class Compiler {
 public:
  Compiler() = default;
  /// For a negation that is tested on the candidates of a state.
  Compiler(const Span& span, std::uint32_t state, Program& chosen)
      : state_(state), chosen_(&chosen), is_timed_(depends_on(span, state)) {}

  Result<Program> compile(const plan::Scan& scan, std::optional<std::uint32_t> aggregated,
                          bool consumed) {
    for (const Expr& guard : scan.guards) add_guard(guard);
    // Texts are tested last, since they take longest.
    for (const bool texts : {false, true}) {
      for (const plan::Comparison& comparison : scan.comparisons) {
        if (compares_texts(comparison.op, comparison.subject.type) == texts) add(comparison);
      }
    }
    // Equalities leave the fewest candidates to the other tests.
    std::stable_partition(
        program_.tests.begin(), program_.tests.end(),
        [](const Program::Test& test) { return test.comparisons.front()->op == Op::equal; });
    if (consumed) program_.tests.push_back({{.attribute = number(kConsumer)}, {}});
    for (const Expr& condition : scan.residual) require(condition);
    if (aggregated) program_.reduced = number(value_of(*aggregated));
    if (is_timed_) {
      program_.time = number(kTimestamp);
      chosen_->time = number_of(kTimestamp, chosen_->fields);
    }
    const std::size_t cells = program_.parameters.size();
    if (deepest_ > gpu::kStack || cells >= kMost || program_.fields.size() >= kMost) {
      fail("a condition is too large");
    }
    if (!problem_.empty()) return Error{problem_, ""};
    return std::move(program_);
  }

 private:
  static constexpr std::size_t kMost = std::numeric_limits<std::uint16_t>::max();

  void fail(const std::string& problem) {
    if (problem_.empty()) problem_ = problem;
  }

  std::uint16_t number(const Field& field) { return number_of(field, program_.fields); }

  bool is_on_host(const Expr& expr) const {
    return !plan::mentions_candidate(expr) && !(state_ && reads(expr, *state_));
  }

  void add_guard(const Expr& guard) {
    if (is_on_host(guard)) {
      program_.guards.push_back(&guard);
    } else {
      require(guard);
    }
  }

  /// Adds a parameter once for all its mentions, so that what is calculated from it is there once,
  /// too.
  std::uint16_t parameter(const Expr& expr, bool required, bool is_text = false) {
    if (plan::computes_text(expr)) fail("a condition needs a string that a function computes");
    auto& all = program_.parameters;
    const auto known = std::ranges::find_if(all, [&](const Program::Parameter& other) {
      return other.is_text == is_text && is_same(*other.expr, expr);
    });
    const auto number = static_cast<std::uint16_t>(known - all.begin());
    if (known == all.end()) {
      all.push_back({&expr, required, is_text});
    } else {
      known->required = known->required || required;
    }
    return number;
  }

  void add(const plan::Comparison& comparison) {
    if (compares_texts(comparison.op, comparison.subject.type)) {
      push_texts(comparison.op, comparison.subject, comparison.operand, true);
      return drop({Code::require, Op::constant, Kind::words, 0});
    }
    const Kind kind = kind_of(comparison.subject.type, comparison.operand.type);
    const bool has_value = is_on_host(comparison.operand);
    if (comparison.attribute() && has_value) return add_test(comparison);
    push(comparison.subject);
    if (has_value) {
      push({Code::cell, Op::constant, kind, parameter(comparison.operand, true)});
    } else {
      push(comparison.operand);
    }
    drop({Code::compare, comparison.op, kind, 0});
    drop({Code::require, Op::constant, kind, 0});
  }

  void add_test(const plan::Comparison& comparison) {
    const bool negated = comparison.op == Op::not_equal;
    const gpu::Test test{.attribute = number(value_of(*comparison.attribute())),
                         .floats = comparison.subject.type == ValueType::floating,
                         .negated = negated};
    const auto same = std::ranges::find_if(program_.tests, [&](const Program::Test& known) {
      return known.on_device.attribute == test.attribute && !known.on_device.negated;
    });
    if (negated || same == program_.tests.end()) {
      program_.tests.push_back({test, {&comparison}});
    } else {
      same->comparisons.push_back(&comparison);
    }
  }

  void require(const Expr& condition) {
    push(condition);
    drop({Code::require, Op::constant, Kind::words, 0});
  }

  void push(Instruction instruction) {
    program_.code.push_back(instruction);
    deepest_ = std::max(deepest_, ++depth_);
  }
  void keep(Instruction instruction) { program_.code.push_back(instruction); }
  void drop(Instruction instruction) {
    program_.code.push_back(instruction);
    --depth_;
  }

  /// Leaves the value of the expression on the stack.
  void push(const Expr& expr) {
    if (is_on_host(expr)) {
      return push({Code::cell, expr.op, Kind::words, parameter(expr, false)});
    }
    switch (expr.op) {
      case Op::attribute:
        if (expr.source != kCandidate) return push_chosen(expr, value_of(expr.index));
        return push({Code::attribute, expr.op, Kind::words, number(value_of(expr.index))});
      case Op::present:
        if (expr.source != kCandidate) return fail("a candidate's attribute is asked for");
        return push({Code::present, expr.op, Kind::words, number(value_of(expr.index))});
      case Op::timestamp:
        if (expr.source != kCandidate) return push_chosen(expr, kTimestamp);
        return push({Code::attribute, expr.op, Kind::words, number(kTimestamp)});
      case Op::call:
        return fail("a condition calls the function " +
                    std::string(functions::signature_of(expr.function).name) +
                    " for each candidate");
      case Op::negate:
      case Op::to_float:
      case Op::to_int:
      case Op::logical_not:
        return push_unary(expr);
      case Op::logical_and:
      case Op::logical_or:
        return push_logical(expr);
      default:
        return push_binary(expr);
    }
  }

  void push_chosen(const Expr& expr, const Field& field) {
    push({Code::chosen, expr.op, Kind::words, number_of(field, chosen_->fields)});
  }

  void push_unary(const Expr& expr) {
    push(expr.args[0]);
    const bool floats = expr.args[0].type == ValueType::floating;
    if (expr.op == Op::logical_not) keep({Code::logical_not, expr.op, Kind::words, 0});
    if (expr.op == Op::to_float && !floats) keep({Code::to_float, expr.op, Kind::words, 0});
    if (expr.op == Op::to_int && floats) keep({Code::to_integer, expr.op, Kind::words, 0});
    if (expr.op == Op::negate) {
      keep({floats ? Code::negate_float : Code::negate_integer, expr.op, Kind::words, 0});
    }
  }

  void push_logical(const Expr& expr) {
    const Code code = expr.op == Op::logical_and ? Code::logical_and : Code::logical_or;
    push(expr.args[0]);
    for (std::size_t i = 1; i < expr.args.size(); ++i) {
      push(expr.args[i]);
      drop({code, expr.op, Kind::words, 0});
    }
    // A single condition may have no value where a conjunction of it is false, as it is when
    // negated twice.
    if (expr.args.size() == 1) {
      keep({Code::logical_not, expr.op, Kind::words, 0});
      keep({Code::logical_not, expr.op, Kind::words, 0});
    }
  }

  struct TextOperand {
    gpu::Source source;
    std::uint16_t number;
  };
  /// A string that is not on the host is an attribute, unless a function computes it.
  TextOperand text_operand(const Expr& expr, bool required) {
    if (plan::computes_text(expr)) {
      fail("a condition needs a string that a function computes");
      return {};
    }
    if (is_on_host(expr)) return {gpu::Source::search, parameter(expr, required, true)};
    const Field text = text_of(expr.index);
    if (expr.source == kCandidate) return {gpu::Source::candidate, number(text)};
    return {gpu::Source::chosen, number_of(text, chosen_->fields)};
  }
  /// `required`: if a text of the search has no value, nothing is found.
  void push_texts(Op op, const Expr& a, const Expr& b, bool required) {
    const TextOperand left = text_operand(a, required), right = text_operand(b, required);
    push({.code = Code::compare_texts,
          .op = op,
          .kind = Kind::words,
          .operand = left.number,
          .left = left.source,
          .right = right.source,
          .other = right.number});
  }

  void push_binary(const Expr& expr) {
    if (compares_texts(expr.op, expr.args[0].type)) {
      return push_texts(expr.op, expr.args[0], expr.args[1], false);
    }
    push(expr.args[0]);
    push(expr.args[1]);
    const ValueType left = expr.args[0].type, right = expr.args[1].type;
    const bool arithmetic = expr.op == Op::add || expr.op == Op::subtract ||
                            expr.op == Op::multiply || expr.op == Op::divide;
    if (arithmetic) {
      if (left != right) fail("an int meets a float unconverted");
      return drop(
          {left == ValueType::floating ? Code::floats : Code::integers, expr.op, Kind::words, 0});
    }
    drop({Code::compare, expr.op, kind_of(left, right), 0});
  }

  std::optional<std::uint32_t> state_;
  Program* chosen_ = nullptr;
  bool is_timed_ = false;
  Program program_;
  std::size_t depth_ = 0, deepest_ = 0;
  std::string problem_;
};

}  // namespace

Result<Program> compile(const plan::Scan& scan, std::optional<std::uint32_t> aggregated,
                        bool consumed) {
  return Compiler().compile(scan, aggregated, consumed);
}

Result<Program> compile_inside(const plan::Scan& scan, const Span& span, std::uint32_t state,
                               Program& chosen) {
  return Compiler(span, state, chosen).compile(scan, {}, false);
}

}  // namespace gorgo::engine
