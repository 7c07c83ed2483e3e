#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <utility>

#include "gorgo/processor.hpp"

namespace gorgo::server {

/// What waits until the events of a publication are evaluated. Events that lateness holds back are
/// evaluated when they are released. Belongs to the engine thread.
template <class T>
class UntilEvaluated {
 public:
  /// `last` is the largest timestamp of the publication.
  void add(Timestamp last, T item) { fresh_.emplace_back(last, std::move(item)); }

  /// Calls `take(item)` for those whose events are evaluated. Precondition: nothing is pending.
  template <class Take>
  void settle(const Processor& processor, Take take) {
    if (fresh_.empty() && held_.empty()) return;
    const bool all = processor.held() == 0;
    const auto clock = processor.clock();
    const auto is_evaluated = [&](Timestamp last) { return all || (clock && last <= *clock); };
    while (!held_.empty() && is_evaluated(held_.begin()->first)) {
      auto first = held_.extract(held_.begin());
      take(std::move(first.mapped()));
    }
    while (!fresh_.empty()) {
      auto& [last, item] = fresh_.front();
      if (!is_evaluated(last)) {
        held_.emplace(last, std::move(item));
        fresh_.pop_front();
        continue;
      }
      T ready = std::move(item);
      fresh_.pop_front();
      take(std::move(ready));
    }
  }

  /// The item of the publication that an event of this time waits for; null: it is in none of them.
  /// `from` is 0 at first, and spares what was passed when times that ascend are asked for.
  const T* waiting_for(Timestamp time, std::size_t& from) const {
    const auto held = held_.lower_bound(time);
    if (held != held_.end()) return &held->second;
    while (from < fresh_.size() && fresh_[from].first < time) ++from;
    return from < fresh_.size() ? &fresh_[from].second : nullptr;
  }

 private:
  std::deque<std::pair<Timestamp, T>> fresh_;  // since `settle`
  std::multimap<Timestamp, T> held_;           // by their largest timestamp
};

}  // namespace gorgo::server
