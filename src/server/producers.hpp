#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <unordered_map>

namespace gorgo::server {

/// The last applied sequence number of each producer, so that a repeated publication is not
/// applied again. Beyond `max_producers`, the one that was silent longest is forgotten.
class Producers {
 public:
  explicit Producers(std::size_t max_producers) : max_(max_producers) {}

  /// Takes note of a publication; false: this number or a later one was applied before.
  bool advance(std::uint64_t producer, std::uint64_t sequence) {
    const auto it = known_.find(producer);
    if (it == known_.end()) {
      if (known_.size() >= max_) {
        known_.erase(recent_.back().id);
        recent_.pop_back();
      }
      recent_.push_front({producer, sequence});
      known_[producer] = recent_.begin();
      return true;
    }
    recent_.splice(recent_.begin(), recent_, it->second);
    if (sequence <= it->second->sequence) return false;
    it->second->sequence = sequence;
    return true;
  }

 private:
  struct Producer {
    std::uint64_t id;
    std::uint64_t sequence;
  };

  std::size_t max_;
  std::list<Producer> recent_;  // the latest in front
  std::unordered_map<std::uint64_t, std::list<Producer>::iterator> known_;
};

}  // namespace gorgo::server
