#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <variant>

#include "engine/column/newest_events.hpp"
#include "engine/column/prober.hpp"
#include "engine/column/scanner.hpp"
#include "engine/column/whole_window.hpp"
#include "engine/engine.hpp"
#include "gorgo/rule.hpp"
#include "history/history.hpp"

namespace gorgo::engine {

class Aggregation;

/// Finds the events of one predicate, by key where it has one, else by scanning. Has one search in
/// hand at a time; positions are those of `start`'s range.
class Finder {
  /// The larger ones stand elsewhere, so that a finder of the small kind takes little memory.
  using Way = std::variant<WholeWindow, std::unique_ptr<Scanner>, std::unique_ptr<Prober>>;

  template <class F>
  auto by_way(F&& f) {
    if (auto* const window = std::get_if<WholeWindow>(&way_)) return f(*window);
    if (auto* const keyed = prober()) return f(*keyed);
    return f(*std::get<std::unique_ptr<Scanner>>(way_));
  }
  template <class F>
  auto by_way(F&& f) const {
    if (const auto* const window = std::get_if<WholeWindow>(&way_)) return f(*window);
    if (const auto* const keyed = prober()) return f(*keyed);
    return f(std::as_const(*std::get<std::unique_ptr<Scanner>>(way_)));
  }
  /// Null: it does not search by key.
  Prober* prober() const {
    const auto* const way = std::get_if<std::unique_ptr<Prober>>(&way_);
    return way == nullptr ? nullptr : way->get();
  }
  /// Null: it does not scan for what passes conditions.
  Scanner* scanner() const {
    const auto* const way = std::get_if<std::unique_ptr<Scanner>>(&way_);
    return way == nullptr ? nullptr : way->get();
  }

 public:
  /// `scan` must outlive the finder.
  Finder(const plan::Scan& scan, history::History& history, bool use_indexes, Selectivity worth);
  /// A finder of a state's candidates.
  Finder(const plan::Scan& scan, history::History& history, bool use_indexes, Selectivity worth,
         const State& state);
  /// A finder of what the aggregate is about, to be asked for its value.
  Finder(const plan::Scan& scan, history::History& history, bool use_indexes,
         const Aggregate& aggregate);

  /// A hint: it is going to be used for the first time in a while.
  void prefetch() const { column_->prefetch(); }
  /// A hint: `start` is going to be called for each of the terminators.
  void prefetch(std::span<const history::EventRef> terminators) {
    if (auto* const keyed = prober()) keyed->prefetch(terminators);
  }
  /// Whether it scans for what passes conditions.
  bool is_scanning() const { return !among_ && scanner() != nullptr; }
  /// See `Scanner`. Precondition: `is_scanning`.
  bool wants_announcements() const { return scanner()->wants_announcements(); }
  void announce(std::span<const Search> searches) { scanner()->announce(searches); }
  history::Range start(const Search& search) {
    return among_ ? start_among(search) : begin(search);
  }
  history::EventRef event(std::uint64_t position) const {
    return by_way([&](const auto& way) { return way.event(position); });
  }
  /// Calls `f(position)` for the matching positions of the range in ascending (or descending) order
  /// until it returns false. Returns whether it ran to the end.
  template <class F>
  bool ascending(history::Range range, F&& f) {
    return by_way([&](auto& way) { return way.ascending(range, f); });
  }
  template <class F>
  bool descending(history::Range range, F&& f) {
    return by_way([&](auto& way) { return way.descending(range, f); });
  }
  /// The aggregate over the matching positions of the range.
  Datum aggregate(const Aggregate& aggregate, history::Range range);

  /// The part of what it searches that is its own, in bytes.
  std::size_t bytes() const;
  /// See Evaluator.
  double upkeep() const;

 private:
  Finder(const plan::Scan& scan, history::History& history, bool use_indexes, Selectivity worth,
         const Aggregate* aggregate);
  void look_among(std::optional<std::uint64_t> count, TypeId type, history::History& history);
  history::Range begin(const Search& search) {
    return by_way([&](auto& way) { return way.start(search); });
  }
  history::Range start_among(const Search& search);
  static Way way_to(const plan::Scan& scan, history::Column& column, bool use_indexes,
                    Selectivity worth, const Aggregate* aggregate);
  history::Range newest(history::Range range, std::uint64_t count);
  Datum end_of(const Aggregate& aggregate, history::Range range);
  bool counts_all(const Aggregate& aggregate) const;
  std::optional<std::int64_t> sum_of(history::Range range) const;
  /// The aggregate over a range that stands before the terminator as a whole, if it can be had
  /// without a look at the events.
  std::optional<Datum> aggregate_at_once(const Aggregate& aggregate, history::Range range) const;
  /// Adds the matching events of such a range without a look at each. False: it cannot, and has
  /// added none.
  bool add_together(const Aggregate& aggregate, history::Range range, Aggregation& to) const;
  void add_summaries(const Aggregate& aggregate, history::Range range, Aggregation& to) const;
  bool add_blocks(const Aggregate& aggregate, history::Range range, Aggregation& to) const;
  bool is_exact() const {
    return by_way([](const auto& way) { return way.is_exact(); });
  }
  /// Up to here all of the range stands before the terminator.
  std::uint64_t ordered_end(history::Range range) const {
    return by_way([&](const auto& way) { return way.ordered_end(range); });
  }

  std::shared_ptr<history::Column> column_;  // keeps what is searched up to date
  const history::EventStore& store_;
  Way way_;
  std::unique_ptr<NewestEvents> among_;  // which are looked at alone; null: all are
  // Where the searched index has the sums or the values that answer the aggregate.
  std::optional<std::uint32_t> sums_;
  std::optional<std::uint32_t> values_;
};

}  // namespace gorgo::engine
