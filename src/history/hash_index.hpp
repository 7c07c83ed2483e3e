#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/exact_sum.hpp"
#include "history/block_pool.hpp"
#include "history/event_store.hpp"
#include "history/key.hpp"
#include "history/range.hpp"
#include "plan/plan.hpp"

namespace gorgo::history {

/// What some values are together.
struct Summary {
  ExactSum sum;  ///< of the floats
  Datum least;   ///< that is no NaN; none if there is none
  Datum greatest;
};

/// The events of one key, in (timestamp, place) order. Valid until the next change of the index.
/// Event after event in memory, because taking one in and finding the newest touch one end: first
/// the timestamp, then the slot, then the running sums up to and with the event, modulo 2^64, then
/// the values of some attributes.
class Posting {
 public:
  /// Events that are summarised together: the first so many, the next so many, and so on.
  static constexpr std::uint64_t kGroup = 64;

  Posting() = default;
  Posting(const std::uint64_t* words, std::size_t stride, std::uint64_t size)
      : words_(words), stride_(stride), size_(size) {}

  Timestamp timestamp(std::uint64_t index) const {
    return static_cast<Timestamp>(words_[index * stride_]);
  }
  Slot slot(std::uint64_t index) const { return words_[index * stride_ + 1]; }
  /// What the attribute of running sums `sum` adds up to over the events of the range.
  std::uint64_t sum(std::uint32_t sum, Range range) const {
    if (range.empty()) return 0;
    const std::uint64_t before = range.first == 0 ? 0 : word(sum, range.first - 1);
    return word(sum, range.last - 1) - before;
  }
  /// Word `column` behind the slot: a running sum or a value.
  std::uint64_t word(std::uint32_t column, std::uint64_t index) const {
    return words_[index * stride_ + 2 + column];
  }
  /// The indices with `after < timestamp < before`.
  Range window(Timestamp after, Timestamp before) const;

 private:
  /// The first index of `within` that `is_beyond` holds for; it holds for all behind, too.
  template <class F>
  std::uint64_t partition_point(Range within, F&& is_beyond) const;

  friend class HashIndex;

  const std::uint64_t* words_ = nullptr;
  std::size_t stride_ = 0;
  std::uint64_t size_ = 0;
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
  /// The number of the attribute's running sums for `Posting::sum`, if it has any.
  std::optional<std::uint32_t> find_sum(std::uint32_t attribute) const;
  /// Keeps values of a number attribute that every event has, and summaries of them. Forgets all
  /// events, which the caller adds again.
  void add_values(std::uint32_t attribute);
  std::optional<std::uint32_t> find_values(std::uint32_t attribute) const;
  Datum value(const Posting& posting, std::uint32_t values, std::uint64_t index) const;
  /// The summaries of the posting's full groups, as many as there are; the sums are those of all
  /// groups up to and with this one.
  std::span<const Summary> summaries(const Posting& posting, std::uint32_t values) const;

  /// Takes in newly stored events, in place order.
  void add(std::span<const Slot> slots);
  /// Forgets by and by what the store has dropped: looks at `steps` entries of the table now.
  void drop_gone(std::size_t steps);

  std::span<const Expr> subjects() const { return subjects_; }

  /// A key to look up: the operands that the subjects are compared with.
  class Key {
   public:
    /// False: no event can have the key.
    bool set(const HashIndex& index, std::span<const Datum> operands) {
      if (!index.exact_) return set_values(index, operands);
      const auto word = word_as(operands[0], index.subjects_[0].type);
      tag_ = word.value_or(0);
      return word.has_value();
    }
    std::uint64_t tag() const { return tag_; }

   private:
    friend class HashIndex;
    bool set_values(const HashIndex& index, std::span<const Datum> operands);

    std::vector<Datum> values_;  // as_key; unused where the tag is exact
    std::uint64_t tag_ = 0;
  };

  /// Hints, in this order for a group of keys: fetches what a search will read.
  void prefetch_entry(const Key& key) const { __builtin_prefetch(&table_[start_of(key.tag_)]); }
  void prefetch_posting(const Key& key) const {
    const Entry& entry = table_[start_of(key.tag_)];
    if (entry.words == nullptr) return;
    const std::uint64_t* const end = entry.words + entry.size * stride();
    __builtin_prefetch(end - stride());
    __builtin_prefetch(end);
  }
  /// The key's events; some may be beyond what the store still holds, at timestamps that are
  /// dropped.
  Posting find(const Key& key) const;
  /// Whether a sum over `count` events of a posting is exact, that is, cannot have left int64.
  bool is_exact(std::uint32_t sum, std::uint64_t count) const {
    return count < kMaxExact / std::max<std::uint64_t>(1, sums_[sum].magnitude);
  }

  std::size_t bytes() const;

  /// About how many keys have events, and how many events all of them have, from a sample.
  std::size_t keys() const { return live_; }
  std::size_t events() const;

 private:
  /// An entry of the table: a key and its posting. When its events are all gone it keeps its tag
  /// and has no posting, so that searches go on behind it.
  struct Entry {
    std::uint64_t tag = 0;
    Timestamp newest = 0;
    std::uint64_t* words = nullptr;
    std::uint32_t size = 0;      ///< events
    std::uint32_t capacity = 0;  ///< 0: never used

    bool is_vacant() const { return capacity == 0; }
  };
  static_assert(sizeof(Entry) == 32);
  using Table = std::vector<Entry, HugeAllocator<Entry>>;

  /// By number of values; kept by the posting's memory, in the word before its events.
  using Summaries = std::vector<std::vector<Summary>>;

  struct Sum {
    std::uint32_t attribute;
    std::uint64_t magnitude = 0;  ///< largest absolute value so far
  };

  static constexpr std::uint64_t kMaxExact = std::uint64_t{1} << 63;
  static constexpr std::size_t kSmallestTable = 4;
  static constexpr std::uint32_t kSmallestPosting = 2;
  static constexpr std::size_t kSparse = 16;  ///< a table of so many entries per key shrinks

  std::size_t start_of(std::uint64_t tag) const {
    return (exact_ ? mix(tag) : tag) & (table_.size() - 1);
  }
  bool is_gone(Timestamp timestamp) const { return timestamp <= store_.horizon(); }
  bool has_key(const Entry& entry, const Key& key) const {
    if (entry.tag != key.tag_ || entry.words == nullptr) return false;
    return exact_ || has_values(entry, key);
  }
  bool has_values(const Entry& entry, const Key& key) const;
  Entry& claim(const Key& key);
  void make_room(Entry& entry);
  void insert(Entry& entry, Slot slot);
  std::size_t stride() const { return 2 + sums_.size() + values_.size(); }
  /// Words before the events of a posting.
  std::size_t header() const { return values_.empty() ? 0 : 1; }
  static Summaries*& summaries_of(std::uint64_t* words) {
    return reinterpret_cast<Summaries*&>(words[-1]);
  }
  void summarise(Entry& entry, std::uint64_t from);
  Summary summary(const Posting& posting, std::uint32_t values, Range range) const;
  std::uint64_t* allocate(std::uint32_t capacity);
  void release(std::uint64_t* words, std::uint32_t capacity);
  void drop_posting(Entry& entry);
  void clear();
  void rebuild();

  std::vector<Expr> subjects_;
  const EventStore& store_;
  BlockPool& pool_;
  bool exact_;  ///< a tag is the one word of the key; else tags are hashes
  std::vector<Sum> sums_;
  std::vector<std::uint32_t> values_;  // attributes
  Table table_;                        // a power of two
  std::size_t used_ = 0;               // entries that are not vacant
  std::size_t live_ = 0;               // entries with a posting
  std::size_t posting_bytes_ = 0;
  std::size_t sweep_ = 0;  // the next entry that drop_gone looks at

  std::vector<Key> fresh_;  // scratch of add
  std::vector<Datum> operands_;
};

}  // namespace gorgo::history
