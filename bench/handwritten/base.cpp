// The base scenario by hand:
//
//     from S0(att = $x) and SEL S1(att = $x) within W from S0 and SEL S2(att = $x) within W from S1
//     and $a0 = Sum(S2(att = $x).value within W from S1) where att1 = S0.att, att2 = $a0
//
// For each value of att it keeps the timestamps of S1 and of S2 in order, S2 with running sums, so
// that a sum is a difference. Timestamps only grow. Events that are too old are dropped when their
// value of att is met again; what stays is bounded by the number of values.

#include <algorithm>
#include <boost/unordered/unordered_flat_map.hpp>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "bench/handwritten.hpp"

namespace gorgo::bench {
namespace {

/// A vector that gives up its front.
template <class T>
class Sliding {
 public:
  T* begin() { return items_.data() + head_; }
  T* end() { return items_.data() + items_.size(); }
  void push(const T& item) { items_.push_back(item); }
  void drop_before(T* first) {
    head_ = static_cast<std::size_t>(first - items_.data());
    if (head_ < 8 || head_ * 2 < items_.size()) return;
    items_.erase(items_.begin(), items_.begin() + static_cast<std::ptrdiff_t>(head_));
    head_ = 0;
  }
  std::size_t size() const { return items_.size() - head_; }
  std::size_t bytes() const { return items_.capacity() * sizeof(T); }

 private:
  std::vector<T> items_;
  std::size_t head_ = 0;
};

struct Summed {
  Timestamp timestamp;
  std::int64_t before;  ///< sum of all earlier values
};

struct Key {
  Sliding<Timestamp> s1;
  Sliding<Summed> s2;
  std::int64_t total = 0;  ///< of all values of S2
};

class HandwrittenBase : public Subject {
 public:
  HandwrittenBase(bool each, Duration window) : each_(each), window_(window) {}

  Result<void> feed(GeneratedBatch batch) override {
    for (BatchCursor at(std::move(batch.events)); !at.done(); at.advance()) {
      const EventTable& table = at.table();
      const Timestamp timestamp = table.timestamps[at.row()];
      const std::int64_t att = table.columns[0].integers[at.row()];
      switch (batch.types[at.table_number()]) {
        case 0:
          terminate(timestamp, att);
          break;
        case 1:
          add_s1(timestamp, att);
          break;
        default:
          add_s2(timestamp, att, table.columns[1].integers[at.row()]);
      }
    }
    return {};
  }
  Result<void> filled() override { return {}; }
  Tally tally() const override { return tally_; }

  Memory memory() const override {
    Memory memory{.bytes = keys_.bucket_count() * (sizeof(std::pair<std::int64_t, Key>) + 1)};
    for (const auto& [att, key] : keys_) {
      memory.events += key.s1.size() + key.s2.size();
      memory.bytes += key.s1.bytes() + key.s2.bytes();
    }
    return memory;
  }

 private:
  void add_s1(Timestamp timestamp, std::int64_t att) {
    auto& s1 = keys_[att].s1;
    s1.drop_before(std::upper_bound(s1.begin(), s1.end(), timestamp - window_));
    s1.push(timestamp);
  }

  void add_s2(Timestamp timestamp, std::int64_t att, std::int64_t value) {
    Key& key = keys_[att];
    key.s2.drop_before(newer(key.s2, timestamp - 2 * window_));
    key.s2.push({timestamp, key.total});
    key.total += value;
  }

  void terminate(Timestamp timestamp, std::int64_t att) {
    const auto found = keys_.find(att);
    if (found == keys_.end()) return;
    Key& key = found->second;
    auto s1 = std::upper_bound(key.s1.begin(), key.s1.end(), timestamp - window_);
    const auto end = key.s1.end();
    if (!each_ && s1 != end) s1 = end - 1;
    for (; s1 != end; ++s1) combine(key, timestamp, att, *s1);
  }

  void combine(Key& key, Timestamp timestamp, std::int64_t att, Timestamp s1) {
    auto* const first = newer(key.s2, s1 - window_);
    auto* const last = std::partition_point(first, key.s2.end(),
                                            [s1](const Summed& e) { return e.timestamp < s1; });
    if (first == last) return;
    const std::int64_t sum = (last == key.s2.end() ? key.total : last->before) - first->before;
    CompositeHash hash(kComposite, timestamp);
    hash.add(Datum::of(att));
    hash.add(Datum::of(sum));
    for (auto count = each_ ? last - first : 1; count > 0; --count) tally_.add(hash);
  }

  static Summed* newer(Sliding<Summed>& s2, Timestamp than) {
    return std::partition_point(s2.begin(), s2.end(),
                                [than](const Summed& e) { return e.timestamp <= than; });
  }

  static constexpr std::uint64_t kComposite = hash_of("CE");

  bool each_;
  Duration window_;
  boost::unordered_flat_map<std::int64_t, Key> keys_;
  Tally tally_;
};

}  // namespace

std::unique_ptr<Subject> handwritten_base(const std::string& selection, Duration window) {
  return std::make_unique<HandwrittenBase>(selection == "each", window);
}

}  // namespace gorgo::bench
