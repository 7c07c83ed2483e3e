#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <optional>
#include <unordered_map>

namespace gorgo::server {

/// The last applied sequence number of each producer, so that a repeated publication is not
/// applied again. Beyond `max_producers`, the one that was silent longest is forgotten.
class Producers {
 public:
  explicit Producers(std::size_t max_producers) : max_(max_producers) {}

  /// The number of the last publication that was applied, if it is remembered.
  std::optional<std::uint64_t> last(std::uint64_t producer) const {
    const auto it = known_.find(producer);
    return it == known_.end() ? std::nullopt : std::optional(it->second->sequence);
  }

  /// Takes note of a publication; false: this number or a later one was applied before. Where it
  /// throws bad_alloc, nothing has changed.
  bool advance(std::uint64_t producer, std::uint64_t sequence) {
    const auto it = known_.find(producer);
    if (it == known_.end()) {
      add(producer, sequence);
      return true;
    }
    recent_.splice(recent_.begin(), recent_, it->second);
    if (sequence <= it->second->sequence) return false;
    it->second->sequence = sequence;
    return true;
  }

  /// Calls `f(producer, sequence)` for each, the one that was silent longest first.
  template <class F>
  void for_each(F&& f) const {
    for (auto it = recent_.rbegin(); it != recent_.rend(); ++it) f(it->id, it->sequence);
  }

  /// Takes an `advance` back, unless another one came behind it. `before`: what `last` returned
  /// before it.
  void retract(std::uint64_t producer, std::uint64_t sequence,
               std::optional<std::uint64_t> before) noexcept {
    const auto it = known_.find(producer);
    if (it == known_.end() || it->second->sequence != sequence) return;
    if (before) {
      it->second->sequence = *before;
      return;
    }
    recent_.erase(it->second);
    known_.erase(it);
  }

 private:
  struct Producer {
    std::uint64_t id;
    std::uint64_t sequence;
  };

  void add(std::uint64_t producer, std::uint64_t sequence) {
    std::list<Producer> added{{producer, sequence}};
    known_.emplace(producer, added.begin());
    if (known_.size() > max_) {
      known_.erase(recent_.back().id);
      recent_.pop_back();
    }
    recent_.splice(recent_.begin(), added);
  }

  std::size_t max_;
  std::list<Producer> recent_;  // the latest in front
  std::unordered_map<std::uint64_t, std::list<Producer>::iterator> known_;
};

}  // namespace gorgo::server
