#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "base/exact_sum.hpp"
#include "base/int128.hpp"
#include "gorgo/rule.hpp"
#include "gorgo/value.hpp"
#include "history/event_store.hpp"
#include "plan/plan.hpp"

namespace gorgo::engine {

/// What the events of one pane add up to, as far as the function of the aggregate needs it.
struct Pane {
  std::int64_t number = 0;           ///< see plan::PaneCut
  std::uint64_t count = 0;           ///< of values; for COUNT of events, of these
  Int128 integers = 0;               ///< SUM and AVG of ints
  Datum extreme;                     ///< MIN and MAX: the best number that is no NaN
  std::unique_ptr<ExactSum> floats;  ///< SUM and AVG of floats
};

/// What a rule with `@panes` keeps of the events of one aggregate, in the place of these: by key,
/// their sums in each pane that has events. Memory is in proportion to keys and panes. One thread
/// adds and forgets while nobody reads; any number of threads read in between.
class Panes {
 public:
  using OfKey = std::vector<Pane>;  ///< ascending

  /// Adds the events of the store from the slot `first` on, as far as they satisfy the predicate of
  /// the aggregate with this number. Events that are not later than `after` do not exist for the
  /// rule.
  void add(const plan::Plan& plan, std::size_t aggregate, const history::EventStore& store,
           history::Slot first, std::optional<Timestamp> after);
  /// The value of the aggregate for a sequence whose terminator is an instant of the timer.
  Datum value(const plan::Plan& plan, std::size_t aggregate,
              std::span<const history::EventRef> sequence, const history::EventStore& store) const;
  /// Forgets the panes before this one, also what may still come of them.
  void forget_before(std::int64_t pane);

  /// Calls `f(key, panes)` for each key, in no order.
  template <class F>
  void for_each(F&& f) const {
    for (const auto& [key, panes] : of_keys_) f(key, panes);
  }
  void restore(std::string key, OfKey panes) { of_keys_.emplace(std::move(key), std::move(panes)); }

  /// An estimate: a place in the map and what it owns.
  std::size_t bytes() const;

 private:
  Pane& pane(const std::string& key, std::int64_t number);
  void add_each(const plan::Plan& plan, std::size_t aggregate, const history::EventStore& store,
                history::Slot first, history::Slot last, std::int64_t number);

  boost::unordered_flat_map<std::string, OfKey> of_keys_;
  std::int64_t oldest_ = std::numeric_limits<std::int64_t>::min();
};

}  // namespace gorgo::engine
