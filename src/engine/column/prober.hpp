#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/arithmetic.hpp"
#include "engine/column/search.hpp"
#include "history/evaluate.hpp"
#include "history/hash_index.hpp"
#include "plan/plan.hpp"

namespace gorgo::engine {

/// Finds the events of one predicate in one window by their key: looks up the posting and tests
/// what the key leaves open event by event. Has one search in hand at a time.
class Prober {
 public:
  Prober(const plan::Scan& scan, const history::EventStore& store,
         std::shared_ptr<const history::HashIndex> index);

  const std::shared_ptr<const history::HashIndex>& index() const { return index_; }

  /// A hint: fetches what searches for each of the terminators, in this order, will read.
  /// Precondition: the key depends on the terminator alone, also in later searches.
  void prefetch(std::span<const history::EventRef> terminators);

  /// The range in the posting; empty when nothing can match.
  history::Range start(const Search& search);
  history::EventRef event(std::uint64_t position) const {
    return {&store_, posting_.slot(position)};
  }
  /// Whether every event of the range matches that stands before the terminator.
  bool is_exact() const { return tests_.empty() && scan_.residual.empty(); }
  /// Time alone tells which events of the range before this position stand before the terminator.
  std::uint64_t ordered_end(history::Range range) const {
    if (search_.in_order()) return range.last;
    return range.clamp(
        posting_.first_after_near_end(arithmetic::saturating_subtract(search_.ordered_before, 1)));
  }
  const history::Posting& posting() const { return posting_; }

  /// Calls `f(position)` for the matching positions of the range in ascending (or descending) order
  /// until it returns false. Returns whether it ran to the end.
  template <class F>
  bool ascending(history::Range range, F&& f) const;
  template <class F>
  bool descending(history::Range range, F&& f) const;

 private:
  /// A key of a terminator that was announced.
  struct Announced {
    history::Slot terminator = 0;
    bool possible = false;  ///< whether any event can have it
    history::HashIndex::Key key;
  };

  bool set_key(std::span<const history::EventRef> sequence, history::HashIndex::Key& key);
  /// The key of the search; null when no event can have it.
  const history::HashIndex::Key* key_of(std::span<const history::EventRef> sequence);
  bool passes(std::uint64_t position) const {
    return sees(position) && (is_exact() || passes_tests(position));
  }
  bool sees(std::uint64_t position) const {
    return search_.in_order() || search_.sees(event(position), posting_.timestamp(position));
  }
  bool passes_tests(std::uint64_t position) const;

  const plan::Scan& scan_;
  const history::EventStore& store_;
  std::shared_ptr<const history::HashIndex> index_;
  std::vector<const Expr*> key_operands_;
  bool has_word_ = false;  // the only operand is an attribute whose words are those of keys
  std::vector<std::uint32_t> tests_;  // comparisons that are not of the key
  std::vector<Datum> operands_;       // of the key
  std::vector<Datum> limits_;         // operands of the tests
  history::HashIndex::Key key_;
  std::vector<Announced> group_;  // `announced_` terminators, of which `next_` are over
  std::size_t announced_ = 0, next_ = 0;
  history::Posting posting_;
  Search search_;
};

template <class F>
bool Prober::ascending(history::Range range, F&& f) const {
  for (std::uint64_t p = range.first; p < range.last; ++p) {
    if (passes(p) && !f(p)) return false;
  }
  return true;
}

template <class F>
bool Prober::descending(history::Range range, F&& f) const {
  for (std::uint64_t p = range.last; p > range.first; --p) {
    if (passes(p - 1) && !f(p - 1)) return false;
  }
  return true;
}

}  // namespace gorgo::engine
