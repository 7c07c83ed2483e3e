#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "gorgo/rule.hpp"
#include "gorgo/value.hpp"

namespace gorgo::engine {

/// When a rule with `@at_most` produced composites, by key, as far as later composites depend on it
/// (language.md §4). A key takes memory for at most twice as many times as the limit allows.
class ProducedComposites {
 public:
  using Times = std::vector<Timestamp>;

  /// Whether a composite with these values is produced at this time; notes it if so. To be asked in
  /// place order.
  bool admit(const OutputLimit& limit, std::span<const Datum> cells, Timestamp at);

  /// Forgets keys that had nothing after `last`. Amortised: does nothing until there are twice as
  /// many.
  void forget_until(Timestamp last);

  /// Calls `f(key, times)` for each key, in no order. Times ascend.
  template <class F>
  void for_each(F&& f) const {
    for (const auto& [key, times] : times_) f(key, times);
  }
  void restore(std::string key, Times times) { times_.emplace(std::move(key), std::move(times)); }

  std::size_t keys() const { return times_.size(); }
  /// An estimate: a node, its bucket and what it owns.
  std::size_t bytes() const;

 private:
  static constexpr std::size_t kSmallest = 1024;

  std::unordered_map<std::string, Times> times_;
  std::size_t threshold_ = kSmallest;
  std::string key_;  // of the composite in hand
};

}  // namespace gorgo::engine
