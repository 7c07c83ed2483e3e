#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "history/constant_index.hpp"
#include "server/subscriptions/filter.hpp"

namespace gorgo::server {

/// A condition of a filter that compares an attribute with a constant.
struct ConstantCondition {
  std::string_view attribute;  ///< of the filter
  Op op;                       ///< with the attribute on the left
  Datum constant;              ///< strings lie in the filter

  /// Whether events can be found by it: an equality, or a bound on a number.
  bool is_equality() const { return op == Op::equal; }
  bool is_bound() const;
};

/// The conditions of the filter that compare an attribute with a constant and must all hold.
std::vector<ConstantCondition> constant_conditions(const Filter& filter);

/// A word that equal values share, for all values but strings. Values that are not equal may share
/// one, too.
std::uint64_t word_of(const Datum& value);

/// The value of an attribute of an event, `timestamp` included.
Datum attribute_of(const OutputBatch& batch, const OutputBatch::Row& row, std::string_view name);

/// Finds the filters that accept an event of one type without testing those that do not: each
/// stands under one of its comparisons with a constant, if it has one; under an equality rather
/// than under a bound. `Entry` has a member `filter` and must outlive the index.
template <class Entry>
class FilterIndex {
 public:
  void add(Entry& entry) {
    if (entry.filter.takes_all()) return all_.push_back(&entry);
    const auto conditions = constant_conditions(entry.filter);
    const auto take = [&](auto suits, auto add) {
      for (const ConstantCondition& condition : conditions) {
        if (!suits(condition)) continue;
        add(subject(condition.attribute).constants, condition);
        return true;
      }
      return false;
    };
    const auto add_equal = [&](Constants& constants, const ConstantCondition& condition) {
      const bool is_text = condition.constant.tag == Datum::Tag::string;
      is_text ? constants.add_equal(condition.constant.text(), &entry)
              : constants.add_equal(word_of(condition.constant), &entry);
    };
    const auto add_bound = [&](Constants& constants, const ConstantCondition& condition) {
      constants.add_bound(condition.op, condition.constant, &entry);
    };
    if (take([](const auto& c) { return c.is_equality(); }, add_equal)) return;
    if (take([](const auto& c) { return c.is_bound(); }, add_bound)) return;
    others_.push_back(&entry);
  }

  /// Calls `f(entry)` for each filter that accepts the event.
  template <class F>
  void for_each_match(const OutputBatch& batch, const OutputBatch::Row& row, F&& f) {
    const auto offer = [&](Entry* entry) {
      if (entry->filter.matches(batch, row)) f(*entry);
    };
    for (Entry* entry : all_) f(*entry);
    for (Entry* entry : others_) offer(entry);
    for (Subject& subject : subjects_) {
      const Datum value = attribute_of(batch, row, subject.attribute);
      if (!value.exists()) continue;
      if (value.tag == Datum::Tag::string) {
        subject.constants.for_each_equal(value.text(), offer);
      } else {
        subject.constants.for_each_equal(word_of(value), offer);
        subject.constants.for_each_bound(value, offer);
      }
    }
  }

 private:
  using Constants = history::ConstantIndex<Entry*>;
  /// The filters under a condition on one attribute.
  struct Subject {
    std::string attribute;
    Constants constants = {};
  };

  std::vector<Subject> subjects_;
  std::vector<Entry*> all_;  // of the filters that take every event
  std::vector<Entry*> others_;

  Subject& subject(std::string_view attribute) {
    for (Subject& known : subjects_) {
      if (known.attribute == attribute) return known;
    }
    return subjects_.emplace_back(Subject{std::string(attribute)});
  }
};

}  // namespace gorgo::server
