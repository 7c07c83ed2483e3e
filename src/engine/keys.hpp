#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "gorgo/rule.hpp"
#include "history/event_store.hpp"

namespace gorgo::engine {

/// Appends a text that two events share exactly when they agree in the attributes that the state
/// is chosen per (language.md §4): all NaN are one key, and so are 0.0 and -0.0. Precondition: the
/// event has these attributes.
void append_key(const State& state, history::EventRef event, std::string& key);

/// How many events a selection has taken of each key so far.
class TakenByKey {
 public:
  void clear() { taken_.clear(); }
  /// The count of the event's key, 0 at first. Valid until the next call.
  std::uint64_t& of(const State& state, history::EventRef event) {
    key_.clear();
    append_key(state, event, key_);
    const auto known = taken_.find(std::string_view(key_));
    return known != taken_.end() ? known->second : taken_[key_];
  }

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view key) const {
      return std::hash<std::string_view>()(key);
    }
  };

  std::unordered_map<std::string, std::uint64_t, Hash, std::equal_to<>> taken_;
  std::string key_;  // of the event in hand
};

}  // namespace gorgo::engine
