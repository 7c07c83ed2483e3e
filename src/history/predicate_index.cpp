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

Datum constant_of(const plan::Comparison& comparison) { return evaluate(comparison.operand, {}); }

}  // namespace

void PredicateIndex::add(Column& column) {
  if (!add_equality(column) && !add_bound(column)) others_.push_back(&column);
}

void PredicateIndex::clear() {
  subjects_.clear();
  others_.clear();
  sorted_ = true;
}

bool PredicateIndex::add_equality(Column& column) {
  for (const Expr& condition : column.conditions()) {
    const auto comparison = against_constant(condition);
    if (!comparison || comparison->op != Op::equal) continue;
    const auto key = as_key(constant_of(*comparison), comparison->subject.type);
    if (!key) return true;  // no value is equal: the column stays empty
    Subject& under = subject(*comparison->attribute());
    Candidates& candidates = key->tag == Datum::Tag::string ? under.texts[std::string(key->text())]
                                                            : under.words[key_word(*key)];
    candidates.push_back({&column, column.conditions().size() == 1});
    return true;
  }
  return false;
}

bool PredicateIndex::add_bound(Column& column) {
  for (const Expr& condition : column.conditions()) {
    const auto comparison = against_constant(condition);
    if (!comparison) continue;
    const Op op = comparison->op;
    const bool above = op == Op::greater || op == Op::greater_equal;
    if (!above && op != Op::less && op != Op::less_equal) continue;
    const Datum constant = constant_of(*comparison);
    if (constant.tag == Datum::Tag::string) continue;
    if (!constant.exists() || !as_key(constant, constant.type())) return true;  // nothing compares
    Subject& under = subject(*comparison->attribute());
    const Candidate candidate{&column, column.conditions().size() == 1};
    (above ? under.above : under.below).push_back({op, constant, candidate});
    sorted_ = false;
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

void PredicateIndex::sort() {
  for (Subject& subject : subjects_) {
    std::stable_sort(subject.above.begin(), subject.above.end(),
                     [](const Bound& a, const Bound& b) {
                       return arithmetic::compare(Op::less, a.constant, b.constant);
                     });
    std::stable_sort(subject.below.begin(), subject.below.end(),
                     [](const Bound& a, const Bound& b) {
                       return arithmetic::compare(Op::greater, a.constant, b.constant);
                     });
  }
  sorted_ = true;
}

const PredicateIndex::Candidates* PredicateIndex::equal_to(const Subject& subject,
                                                           const Datum& value) const {
  if (subject.words.empty() && subject.texts.empty()) return nullptr;
  const auto key = as_key(value, store_.attribute_type(subject.attribute));
  if (!key) return nullptr;
  if (key->tag == Datum::Tag::string) {
    const auto it = subject.texts.find(key->text());
    return it == subject.texts.end() ? nullptr : &it->second;
  }
  const auto it = subject.words.find(key_word(*key));
  return it == subject.words.end() ? nullptr : &it->second;
}

std::size_t PredicateIndex::bytes() const {
  std::size_t total = others_.capacity() * sizeof(Column*);
  for (const Subject& s : subjects_) {
    total += sizeof(s) + s.words.bucket_count() * (sizeof(std::uint64_t) + sizeof(Candidates)) +
             s.texts.bucket_count() * (sizeof(std::string) + sizeof(Candidates)) +
             (s.above.capacity() + s.below.capacity()) * sizeof(Bound);
  }
  return total;
}

}  // namespace gorgo::history
