#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/container/small_vector.hpp>
#include <boost/unordered/unordered_flat_map.hpp>

#include "base/arithmetic.hpp"

namespace gorgo::history {

/// Finds the conditions that compare one attribute with constants and hold for a value, without
/// looking at those that do not: equalities by hash, bounds in sorted lists. (Counting and cluster
/// matching of publish/subscribe systems: Fabret et al., "Filtering algorithms and implementation
/// for very fast publish/subscribe systems", SIGMOD 2001.) `T` stands for what a condition belongs
/// to. Thread-safety: one thread at a time.
template <class T>
class ConstantIndex {
 public:
  /// The caller decides which word stands for which value.
  void add_equal(std::uint64_t word, const T& item) { words_[word].push_back(item); }
  void add_equal(std::string_view text, const T& item) {
    texts_[std::string(text)].push_back(item);
  }
  /// Precondition: `op` is an inequality of order; the constant is no string, whose bytes would
  /// have to be kept, and no NaN.
  void add_bound(Op op, const Datum& constant, const T& item) {
    const bool is_lower = op == Op::greater || op == Op::greater_equal;
    (is_lower ? lower_ : upper_).push_back({op, constant, item});
    is_sorted_ = false;
  }

  bool has_equalities() const { return !words_.empty() || !texts_.empty(); }

  /// Calls `f(item)` for the equalities with this word or text.
  template <class F>
  void for_each_equal(std::uint64_t word, F&& f) const {
    if (const auto found = words_.find(word); found != words_.end()) {
      for (const T& item : found->second) f(item);
    }
  }
  template <class F>
  void for_each_equal(std::string_view text, F&& f) const {
    if (const auto found = texts_.find(text); found != texts_.end()) {
      for (const T& item : found->second) f(item);
    }
  }
  /// Calls `f(item)` for the bounds that the value keeps to.
  template <class F>
  void for_each_bound(const Datum& value, F&& f) {
    if (!is_sorted_) sort();
    for (const Bound& bound : lower_) {
      if (arithmetic::compare(Op::less, value, bound.constant)) break;
      if (arithmetic::compare(bound.op, value, bound.constant)) f(bound.item);
    }
    for (const Bound& bound : upper_) {
      if (arithmetic::compare(Op::greater, value, bound.constant)) break;
      if (arithmetic::compare(bound.op, value, bound.constant)) f(bound.item);
    }
  }

  std::size_t bytes() const {
    return words_.bucket_count() * (sizeof(std::uint64_t) + sizeof(Items)) +
           texts_.bucket_count() * (sizeof(std::string) + sizeof(Items)) +
           (lower_.capacity() + upper_.capacity()) * sizeof(Bound);
  }

 private:
  /// Most constants are those of one condition, which is then found without another cache miss.
  using Items = boost::container::small_vector<T, 1>;

  struct Bound {
    Op op;
    Datum constant;
    T item;
  };
  struct TextHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const {
      return std::hash<std::string_view>()(text);
    }
  };

  boost::unordered_flat_map<std::uint64_t, Items> words_;
  boost::unordered_flat_map<std::string, Items, TextHash, std::equal_to<>> texts_;
  std::vector<Bound> lower_;  // for values above the constant, or equal; ascending when sorted
  std::vector<Bound> upper_;  // descending when sorted
  bool is_sorted_ = true;

  void sort() {
    const auto by = [](Op op) {
      return [op](const Bound& a, const Bound& b) {
        return arithmetic::compare(op, a.constant, b.constant);
      };
    };
    std::stable_sort(lower_.begin(), lower_.end(), by(Op::less));
    std::stable_sort(upper_.begin(), upper_.end(), by(Op::greater));
    is_sorted_ = true;
  }
};

}  // namespace gorgo::history
