#include "history/predicate_index.hpp"

#include <algorithm>

#include "history/evaluate.hpp"
#include "history/key.hpp"

namespace gorgo::history {
namespace {

/// The comparison of an attribute with a constant that the condition is, if it is one.
std::optional<plan::Comparison> against_constant(const Expr& condition) {
  auto comparison = plan::as_comparison(condition);
  if (!comparison || !comparison->attribute()) return std::nullopt;
  return comparison;
}

bool is_order(Op op) {
  return op == Op::less || op == Op::less_equal || op == Op::greater || op == Op::greater_equal;
}

Datum constant_of(const plan::Comparison& comparison) { return evaluate(comparison.operand, {}); }

}  // namespace

void PredicateIndex::add(Column& column) {
  if (!add_equality(column) && !add_bound(column)) others_.push_back(&column);
}

void PredicateIndex::clear() {
  subjects_.clear();
  others_.clear();
}

bool PredicateIndex::add_equality(Column& column) {
  for (const Expr& condition : column.conditions()) {
    const auto comparison = against_constant(condition);
    if (!comparison || comparison->op != Op::equal) continue;
    const auto key = as_key(constant_of(*comparison), comparison->subject.type);
    if (!key) return true;  // no value is equal: the column stays empty
    auto& constants = subject(*comparison->attribute()).constants;
    const Candidate candidate{&column, column.conditions().size() == 1};
    const bool is_text = key->tag == Datum::Tag::string;
    is_text ? constants.add_equal(key->text(), candidate)
            : constants.add_equal(key_word(*key), candidate);
    return true;
  }
  return false;
}

bool PredicateIndex::add_bound(Column& column) {
  for (const Expr& condition : column.conditions()) {
    const auto comparison = against_constant(condition);
    if (!comparison) continue;
    const Op op = comparison->op;
    if (!is_order(op)) continue;
    const Datum constant = constant_of(*comparison);
    if (constant.tag == Datum::Tag::string) continue;
    if (!constant.exists() || !as_key(constant, constant.type())) return true;  // nothing compares
    const Candidate candidate{&column, column.conditions().size() == 1};
    subject(*comparison->attribute()).constants.add_bound(op, constant, candidate);
    return true;
  }
  return false;
}

PredicateIndex::Subject& PredicateIndex::subject(std::uint32_t attribute) {
  const auto it = std::find_if(subjects_.begin(), subjects_.end(),
                               [&](const Subject& s) { return s.attribute == attribute; });
  if (it != subjects_.end()) return *it;
  subjects_.emplace_back().attribute = attribute;
  return subjects_.back();
}

std::size_t PredicateIndex::bytes() const {
  std::size_t total = others_.capacity() * sizeof(Column*);
  for (const Subject& s : subjects_) total += sizeof(s) + s.constants.bytes();
  return total;
}

}  // namespace gorgo::history
