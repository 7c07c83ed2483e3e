#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "history/block_pool.hpp"
#include "history/event_store.hpp"
#include "history/key.hpp"
#include "history/range.hpp"
#include "plan/plan.hpp"

namespace gorgo::history {

/// The events of one key, in (timestamp, place) order, at the indices of a range. Valid until the
/// next change of the index.
class Posting {
 public:
  Posting() = default;
  Posting(const Timestamp* timestamps, const Slot* slots, const std::uint64_t* sums,
          std::uint64_t stride, Range all)
      : timestamps_(timestamps), slots_(slots), sums_(sums), stride_(stride), all_(all) {}

  Timestamp timestamp(std::uint64_t index) const { return timestamps_[index]; }
  Slot slot(std::uint64_t index) const { return slots_[index]; }
  /// The indices with `after < timestamp < before`.
  Range window(Timestamp after, Timestamp before) const;
  /// What the `i`-th summed attribute adds up to before the index, modulo 2^64.
  std::uint64_t sum_before(std::uint32_t i, std::uint64_t index) const {
    return sums_[i * stride_ + index];
  }

 private:
  static constexpr std::uint64_t kLinear = 8;

  const Timestamp* timestamps_ = nullptr;
  const Slot* slots_ = nullptr;
  const std::uint64_t* sums_ = nullptr;
  std::uint64_t stride_ = 0;
  Range all_;
};

/// The events of a column by the values of some expressions: a posting per key, in an open
/// addressing table. Same threads as its store. Taking in an event is amortised O(1) when it is not
/// late, and moves the later ones of its key when it is.
class HashIndex {
 public:
  /// `subjects` mention the candidate only. The store and the pool must outlive the index.
  HashIndex(std::vector<Expr> subjects, const EventStore& store, BlockPool& pool);
  ~HashIndex();
  HashIndex(const HashIndex&) = delete;
  HashIndex& operator=(const HashIndex&) = delete;

  /// Keeps running sums of an int attribute that every event has. Forgets all events, which the
  /// caller adds again.
  void add_sum(std::uint32_t attribute);
  /// The number of the attribute's running sums for `Posting::sum_before`, if it has any.
  std::optional<std::uint32_t> find_sum(std::uint32_t attribute) const;

  /// Takes in newly stored events, in place order.
  void add(std::span<const Slot> slots);
  /// Forgets by and by what the store has dropped: looks at `steps` entries of the table now.
  void drop_gone(std::size_t steps);

  std::span<const Expr> subjects() const { return subjects_; }

  /// A key to look up: the operands that the subjects are compared with.
  class Key {
   public:
    /// False: no event can have the key.
    bool set(const HashIndex& index, std::span<const Datum> operands);
    std::uint64_t tag() const { return tag_; }

   private:
    friend class HashIndex;
    std::vector<Datum> values_;  // as_key
    std::uint64_t tag_ = 0;
  };

  void prefetch(const Key& key) const { __builtin_prefetch(&table_[start_of(key.tag_)]); }
  /// Second step, when the first has arrived.
  void prefetch_posting(const Key& key) const;
  /// The key's events; some may be beyond what the store still holds, at timestamps that are
  /// dropped.
  Posting find(const Key& key) const;
  /// Whether a sum over `count` events of a posting is exact, that is, cannot have left int64.
  bool is_exact(std::uint32_t sum, std::uint64_t count) const {
    return count < kMaxExact / std::max<std::uint64_t>(1, sums_[sum].magnitude);
  }

  std::size_t bytes() const;

 private:
  /// An entry of the table; `block` holds the timestamps, the slots and the sums of its events and
  /// begins with a header. An entry whose events are all gone keeps its tag and has no block.
  struct Entry {
    std::uint64_t tag = 0;
    Timestamp newest = 0;
    std::byte* block = nullptr;
    std::uint32_t first = 0;
    std::uint32_t last = 0;  ///< 0: never used

    bool is_vacant() const { return last == 0; }
  };
  static_assert(sizeof(Entry) == 32);

  struct Sum {
    std::uint32_t attribute;
    std::uint64_t magnitude = 0;  ///< largest absolute value so far
  };
  struct Block;

  static constexpr std::uint64_t kMaxExact = std::uint64_t{1} << 63;
  static constexpr std::size_t kSmallestTable = 4;
  static constexpr std::uint32_t kSmallestBlock = 2;
  static constexpr std::size_t kSparse = 16;  ///< a table of so many entries per key shrinks

  std::size_t start_of(std::uint64_t tag) const {
    return (exact_ ? mix(tag) : tag) & (table_.size() - 1);
  }
  bool is_gone(Timestamp timestamp) const { return timestamp <= store_.horizon(); }
  bool has_key(const Entry& entry, const Key& key) const;
  Entry& claim(const Key& key);
  void make_room(Entry& entry);
  void insert(Entry& entry, Slot slot);
  void release(Block block);
  void drop_block(Entry& entry);
  void clear();
  void rebuild();

  std::vector<Expr> subjects_;
  const EventStore& store_;
  BlockPool& pool_;
  bool exact_;  ///< a tag is the one word of the key; else tags are hashes
  std::vector<Sum> sums_;
  std::vector<Entry> table_;  // a power of two
  std::size_t used_ = 0;      // entries that are not vacant
  std::size_t live_ = 0;      // entries with a block
  std::size_t block_bytes_ = 0;
  std::size_t sweep_ = 0;  // the next entry that drop_gone looks at

  std::vector<Key> fresh_;  // scratch of add
  std::vector<Datum> operands_;
};

}  // namespace gorgo::history
