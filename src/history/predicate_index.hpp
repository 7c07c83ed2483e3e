#pragma once

#include <cstdint>
#include <vector>

#include "history/column.hpp"
#include "history/constant_index.hpp"
#include "history/key.hpp"

namespace gorgo::history {

/// Finds the columns of a type that accept an event without testing those that do not: each column
/// stands under one of its conditions, if it has one that compares an attribute with a constant;
/// under an equality rather than under a bound.
class PredicateIndex {
 public:
  explicit PredicateIndex(const EventStore& store) : store_(store) {}

  /// The column must stay until `clear`.
  void add(Column& column);
  void clear();

  /// The only column, where it accepts all events; null: each event needs a look.
  Column* only() const {
    const bool is_only = subjects_.empty() && others_.size() == 1;
    return is_only && others_.front()->conditions().empty() ? others_.front() : nullptr;
  }
  /// Calls `f(column)` for every column that accepts the event.
  template <class F>
  void for_each_match(Slot slot, F&& f);

  std::size_t bytes() const;

 private:
  struct Candidate {
    Column* column;
    bool accepts;  ///< its only condition is the one that it stands under
  };
  /// The columns under a condition on one attribute.
  struct Subject {
    std::uint32_t attribute = 0;
    ConstantIndex<Candidate> constants;
  };

  bool add_equality(Column& column);
  bool add_bound(Column& column);
  Subject& subject(std::uint32_t attribute);
  template <class F>
  void for_each_equal(const Subject& subject, const Datum& value, F&& f) const;
  template <class F>
  static void offer(Column& column, Slot slot, F&& f) {
    if (column.accepts(slot)) f(column);
  }
  /// Precondition: the condition that the candidate stands under holds.
  template <class F>
  static void offer(const Candidate& candidate, Slot slot, F&& f) {
    candidate.accepts ? f(*candidate.column) : offer(*candidate.column, slot, f);
  }

  const EventStore& store_;
  std::vector<Subject> subjects_;
  std::vector<Column*> others_;
};

template <class F>
void PredicateIndex::for_each_match(Slot slot, F&& f) {
  for (Column* column : others_) offer(*column, slot, f);
  for (Subject& subject : subjects_) {
    const Datum value = store_.attribute(slot, subject.attribute);
    if (!value.exists()) continue;
    const auto consider = [&](const Candidate& candidate) { offer(candidate, slot, f); };
    if (subject.constants.has_equalities()) for_each_equal(subject, value, consider);
    subject.constants.for_each_bound(value, consider);
  }
}

template <class F>
void PredicateIndex::for_each_equal(const Subject& subject, const Datum& value, F&& f) const {
  const auto key = as_key(value, store_.attribute_type(subject.attribute));
  if (!key) return;
  if (key->tag == Datum::Tag::string) return subject.constants.for_each_equal(key->text(), f);
  subject.constants.for_each_equal(key_word(*key), f);
}

}  // namespace gorgo::history
