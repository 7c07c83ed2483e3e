#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "history/column.hpp"

namespace gorgo::history {

/// Finds the columns of a type that accept an event without testing those that do not: each column
/// stands under one of its conditions, if it has one that compares an attribute with a constant;
/// under an equality rather than under a bound. (Counting and cluster matching of publish/subscribe
/// systems: Fabret et al., "Filtering algorithms and implementation for very fast
/// publish/subscribe systems", SIGMOD 2001.)
class PredicateIndex {
 public:
  explicit PredicateIndex(const EventStore& store) : store_(store) {}

  /// The column must stay until `clear`.
  void add(Column& column);
  void clear();

  /// Calls `f(column)` for every column that accepts the event.
  template <class F>
  void for_each_match(Slot slot, F&& f);

  std::size_t bytes() const;

 private:
  struct Candidate {
    Column* column;
    bool accepts;  ///< its only condition is the one that it stands under
  };
  using Candidates = std::vector<Candidate>;
  struct Bound {
    Op op;
    Datum constant;
    Candidate candidate;
  };
  struct TextHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const {
      return std::hash<std::string_view>()(text);
    }
  };
  /// The columns under a condition on one attribute.
  struct Subject {
    std::uint32_t attribute = 0;
    boost::unordered_flat_map<std::uint64_t, Candidates> words;
    boost::unordered_flat_map<std::string, Candidates, TextHash, std::equal_to<>> texts;
    std::vector<Bound> above;  ///< for values above the constant, or equal; ascending when sorted
    std::vector<Bound> below;  ///< descending when sorted
  };

  bool add_equality(Column& column);
  bool add_bound(Column& column);
  Subject& subject(std::uint32_t attribute);
  void sort();
  const Candidates* equal_to(const Subject& subject, const Datum& value) const;
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
  bool sorted_ = true;
};

template <class F>
void PredicateIndex::for_each_match(Slot slot, F&& f) {
  for (Column* column : others_) offer(*column, slot, f);
  if (subjects_.empty()) return;
  if (!sorted_) sort();
  for (const Subject& subject : subjects_) {
    const Datum value = store_.attribute(slot, subject.attribute);
    if (!value.exists()) continue;
    if (const Candidates* candidates = equal_to(subject, value)) {
      for (const Candidate& candidate : *candidates) offer(candidate, slot, f);
    }
    for (const Bound& bound : subject.above) {
      if (arithmetic::compare(Op::less, value, bound.constant)) break;
      if (arithmetic::compare(bound.op, value, bound.constant)) offer(bound.candidate, slot, f);
    }
    for (const Bound& bound : subject.below) {
      if (arithmetic::compare(Op::greater, value, bound.constant)) break;
      if (arithmetic::compare(bound.op, value, bound.constant)) offer(bound.candidate, slot, f);
    }
  }
}

}  // namespace gorgo::history
