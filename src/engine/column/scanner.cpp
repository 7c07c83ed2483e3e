#include "engine/column/scanner.hpp"

#include <algorithm>
#include <functional>

#include "base/arithmetic.hpp"
#include "history/evaluate.hpp"

namespace gorgo::engine {
namespace {

using history::AttributeVector;

/// Bit i: `holds(values[i])`.
template <class T, class Holds>
std::uint64_t mask_of(const T* values, std::uint64_t count, Holds holds) {
  std::uint64_t mask = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    mask |= static_cast<std::uint64_t>(holds(values[i])) << i;
  }
  return mask;
}

template <class Value, class T, class Operand>
std::uint64_t compare_as(Op op, const T* values, std::uint64_t count, const Operand& operand) {
  const auto by = [&](auto relation) {
    return mask_of(values, count,
                   [&](const T& v) { return relation(std::bit_cast<Value>(v), operand); });
  };
  switch (op) {
    case Op::equal:
      return by(std::equal_to<>());
    case Op::not_equal:
      return by(std::not_equal_to<>());
    case Op::less:
      return by(std::less<>());
    case Op::less_equal:
      return by(std::less_equal<>());
    case Op::greater:
      return by(std::greater<>());
    case Op::greater_equal:
      return by(std::greater_equal<>());
    default:
      return 0;
  }
}

/// An int against a float: compared exactly, without converting.
template <class Value, class Operand>
std::uint64_t compare_mixed(Op op, const std::uint64_t* values, std::uint64_t count,
                            Operand operand) {
  return mask_of(values, count, [&](std::uint64_t v) {
    return arithmetic::satisfies(arithmetic::order(std::bit_cast<Value>(v), operand), op);
  });
}

std::uint64_t compare_strings(Op op, const std::string_view* values, std::uint64_t count,
                              std::string_view operand) {
  if (op != Op::contains) return compare_as<std::string_view>(op, values, count, operand);
  return mask_of(values, count,
                 [&](std::string_view v) { return arithmetic::contains(v, operand); });
}

std::uint64_t compare(Op op, const AttributeVector& attribute, std::uint64_t first,
                      std::uint64_t count, const Datum& operand) {
  const bool float_operand = operand.tag == Datum::Tag::floating;
  switch (attribute.type()) {
    case ValueType::string:
      return compare_strings(op, attribute.strings(first), count, operand.text());
    case ValueType::boolean:
      return compare_as<std::uint64_t>(op, attribute.words(first), count,
                                       std::uint64_t{operand.boolean});
    case ValueType::integer:
      return float_operand
                 ? compare_mixed<std::int64_t>(op, attribute.words(first), count, operand.floating)
                 : compare_as<std::int64_t>(op, attribute.words(first), count, operand.integer);
    case ValueType::floating:
      return float_operand
                 ? compare_as<double>(op, attribute.words(first), count, operand.floating)
                 : compare_mixed<double>(op, attribute.words(first), count, operand.integer);
  }
  return 0;
}

}  // namespace

Scanner::Scanner(const plan::Scan& scan, const history::EventStore& store,
                 std::shared_ptr<const history::Timeline> timeline)
    : scan_(scan),
      store_(store),
      timeline_(std::move(timeline)),
      operands_(scan.comparisons.size()),
      simple_(scan.residual.empty() &&
              std::all_of(scan.comparisons.begin(), scan.comparisons.end(),
                          [](const auto& c) { return c.attribute().has_value(); })) {}

history::Range Scanner::start(const Search& search) {
  search_ = search;
  const history::Scope scope{.candidate = {}, .states = search.sequence, .aggregates = {}};
  if (!history::all_hold(scan_.guards, scope)) return {};
  for (std::size_t i = 0; i < operands_.size(); ++i) {
    operands_[i] = history::evaluate(scan_.comparisons[i].operand, scope);
    if (!operands_[i].exists()) return {};
  }
  return timeline_->window(search.interval.after, search.interval.before);
}

std::uint64_t Scanner::matches(std::uint64_t first, std::uint64_t count) const {
  std::uint64_t mask = count == kBlock ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1;
  for (std::size_t i = 0; i < operands_.size() && mask != 0; ++i) {
    const plan::Comparison& comparison = scan_.comparisons[i];
    const auto index = comparison.attribute();
    if (!index) continue;
    const AttributeVector& attribute = timeline_->attribute(*index);
    mask &= compare(comparison.op, attribute, first, count, operands_[i]);
    if (const std::uint8_t* present = attribute.present(first)) {
      mask &= mask_of(present, count, [](std::uint8_t p) { return p != 0; });
    }
  }
  return mask;
}

bool Scanner::passes_tests(std::uint64_t position) const {
  const history::EventRef candidate = event(position);
  if (!search_.sees(candidate)) return false;
  const history::Scope scope{.candidate = candidate, .states = search_.sequence, .aggregates = {}};
  for (std::size_t i = 0; i < operands_.size(); ++i) {
    const plan::Comparison& test = scan_.comparisons[i];
    if (test.attribute()) continue;
    const Datum value = history::evaluate(test.subject, scope);
    if (!arithmetic::compare(test.op, value, operands_[i])) return false;
  }
  return history::all_hold(scan_.residual, scope);
}

}  // namespace gorgo::engine
