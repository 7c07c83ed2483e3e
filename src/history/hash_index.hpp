#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "history/key_table.hpp"
#include "history/upkeep.hpp"

namespace gorgo::history {

/// The events of a column by the values of some expressions: a posting per key. The keys are
/// divided among several tables once there are many, so that several threads can take events in.
/// Thread-safety: as its store. Taking in an event is amortised O(1) when it is not late. Late ones
/// that come together move the later events of their key once.
class HashIndex {
 public:
  using Key = SearchKey;

  /// `subjects` mention the candidate only. The store and the pool must outlive the index.
  /// `shared`: several threads take events in, so many keys are divided.
  HashIndex(std::vector<Expr> subjects, const EventStore& store, BlockPool& pool,
            bool shared = false);
  HashIndex(const HashIndex&) = delete;
  HashIndex& operator=(const HashIndex&) = delete;

  const KeyLayout& layout() const { return layout_; }

  /// Keeps running sums of an int attribute that every event has. Forgets all events, which the
  /// caller adds again.
  void add_sum(std::uint32_t attribute);
  /// The number of the attribute's running sums for `Posting::sum`, if it has any.
  std::optional<std::uint32_t> find_sum(std::uint32_t attribute) const;
  /// Keeps values of a number attribute that every event has, and summaries of them. Forgets all
  /// events, which the caller adds again.
  void add_values(std::uint32_t attribute);
  std::optional<std::uint32_t> find_values(std::uint32_t attribute) const;
  Datum value(const Posting& posting, std::uint32_t values, std::uint64_t index) const {
    return tables_.front().value(posting, values, index);
  }
  /// Copies the values of a range, which are floats, to where there is room for them.
  std::span<const double> floats(const Posting& posting, std::uint32_t values, Range range,
                                 std::span<double> into) const {
    return tables_.front().floats(posting, values, range, into);
  }
  /// The summaries of the posting's full groups, in their order. The sums of a summary are over all
  /// groups up to and with its own.
  std::span<const Summary> summaries(const Posting& posting, std::uint32_t values) const {
    return KeyTable::summaries(posting, values);
  }

  /// Takes in newly stored events, in place order.
  void add(std::span<const Slot> slots);
  /// Does what `add` does, shared among threads: call `prepare`, and then `add_part` for each part
  /// < `parts`, which any thread may do. Precondition: is_divided().
  void prepare(std::span<const Slot> slots);
  /// Whether there are several tables, whose memory is their own.
  bool is_divided() const { return tables_.size() > 1; }
  void add_part(std::size_t part, std::size_t parts);
  /// More parts than this have nothing to do.
  std::size_t parts() const { return tables_.size(); }
  /// Forgets by and by what the store has dropped: looks at about `steps` entries now.
  void drop_gone(std::size_t steps);

  /// Hints, in this order for a group of keys: fetches what a search will read.
  void prefetch_entry(const Key& key) const { table_of(key).prefetch_entry(key); }
  void prefetch_posting(const Key& key) const { table_of(key).prefetch_posting(key); }
  /// The key's events; some may be beyond what the store still holds, at timestamps that are
  /// dropped.
  Posting find(const Key& key) const { return table_of(key).find(key); }
  /// Calls `f(posting)` for every key with an event later than `after`, in no order.
  template <class F>
  void for_each_later(Timestamp after, F&& f) const {
    for (const KeyTable& table : tables_) table.for_each_later(after, f);
  }
  /// Whether a sum over `count` events of a posting is exact, that is, cannot have left int64.
  bool is_exact(std::uint32_t sum, std::uint64_t count) const;

  std::size_t bytes() const;
  /// What it takes to keep it up to date.
  Upkeep& upkeep() { return upkeep_; }
  const Upkeep& upkeep() const { return upkeep_; }

  /// About how many keys have events, and how many events all of them have, from a sample.
  std::size_t keys() const;
  std::size_t events() const;

 private:
  /// A newly stored event: the hash that its table goes by, and the tag of its key.
  struct Fresh {
    std::uint64_t hash, tag;
    Slot slot;
  };

  /// Events that come in next, whose cache misses overlap.
  struct Group {
    static constexpr std::size_t kSize = 16;
    std::array<Key, kSize> keys;
    std::array<Slot, kSize> slots{};
    std::size_t count = 0;

    Key& next() { return keys[count]; }
    /// Makes the next key that of this event. Returns whether the group is full.
    bool take(Slot slot) {
      slots[count++] = slot;
      return count == kSize;
    }
  };

  static constexpr std::size_t kTables = 16;
  static constexpr unsigned kShift = 60;  // above are the bits of a hash that a table goes by

  std::size_t share_of(std::uint64_t hash) const { return hash >> kShift & (tables_.size() - 1); }
  const KeyTable& table_of(const Key& key) const { return tables_[share_of(key.hash())]; }
  bool set(Key& key, Slot slot, std::vector<Datum>& operands) const;
  void add_to_one(std::span<const Slot> slots);
  void insert(Group& group);
  void clear();
  void divide();
  template <class F>
  std::size_t total(F&& of) const {
    std::size_t sum = 0;
    for (const KeyTable& table : tables_) sum += of(table);
    return sum;
  }

  KeyLayout layout_;
  const EventStore& store_;
  BlockPool& pool_;  // of the only table
  const bool shared_;
  std::vector<std::unique_ptr<BlockPool>> pools_;  // of several
  std::vector<KeyTable> tables_;                   // one or kTables
  std::vector<Fresh> fresh_;                       // prepared
  Upkeep upkeep_;

  // Scratch of one thread.
  Group group_;
  std::vector<Datum> operands_;
};

}  // namespace gorgo::history
