#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/huge_allocator.hpp"
#include "gorgo/rule.hpp"
#include "history/block_pool.hpp"
#include "history/event_store.hpp"
#include "history/key.hpp"
#include "history/posting.hpp"

namespace gorgo::history {

/// What the keys of an index are made of, and what its postings hold.
struct KeyLayout {
  std::vector<Expr> subjects;  ///< mention the candidate only
  bool exact;                  ///< a tag is the one word of the key; else tags are hashes
  /// The attribute that is the key, where there is one and its words are those of keys.
  std::optional<std::uint32_t> attribute;
  std::vector<std::uint32_t> sums;    ///< attributes with running sums
  std::vector<std::uint32_t> values;  ///< attributes whose values and summaries are kept

  /// Words of an event in a posting.
  std::size_t stride() const { return 2 + sums.size() + values.size(); }
  /// Words before the events of a posting.
  std::size_t header() const { return values.empty() ? 0 : 1; }
  /// The value of a subject of a stored event.
  Datum subject(std::size_t index, const EventStore& store, Slot slot) const;
};

/// A key to look up: the operands that the subjects are compared with.
class SearchKey {
 public:
  /// False: no event can have the key.
  bool set(const KeyLayout& layout, std::span<const Datum> operands) {
    if (!layout.exact) return set_values(layout, operands);
    const auto word = word_as(operands[0], layout.subjects[0].type);
    if (word) set_word(*word);
    return word.has_value();
  }
  /// The key of an event by a single attribute, see `KeyLayout::attribute`.
  bool set_from(const AttributeVector& values, Slot slot) {
    const std::uint8_t* const present = values.present(slot);
    if (present != nullptr && *present == 0) return false;
    set_word(*values.words(slot));
    return true;
  }
  /// Precondition: the layout is exact.
  void set_word(std::uint64_t word) {
    tag_ = word;
    hash_ = mix(word);
  }
  /// The word where the layout is exact, else the hash.
  std::uint64_t tag() const { return tag_; }
  std::uint64_t hash() const { return hash_; }

 private:
  friend class KeyTable;
  bool set_values(const KeyLayout& layout, std::span<const Datum> operands);

  std::vector<Datum> values_;  // as_key; unused where the tag is exact
  std::uint64_t tag_ = 0;
  std::uint64_t hash_ = 0;
};

/// A posting per key, in an open addressing table. One thread changes it while nobody reads.
/// Several threads may change tables that have pools of their own, each another table, which is why
/// a table has a cache line of its own.
class alignas(64) KeyTable {
 public:
  /// All must outlive the table.
  KeyTable(const KeyLayout& layout, const EventStore& store, BlockPool& pool);
  ~KeyTable();
  KeyTable(KeyTable&&) = default;
  KeyTable(const KeyTable&) = delete;
  KeyTable& operator=(const KeyTable&) = delete;

  /// Takes in an event of the key. Nobody may search before `put_in_order`.
  void insert(const SearchKey& key, Slot slot) { insert(claim(key), slot); }
  /// Takes in events of the key, one after the other. Nobody may search before `put_in_order`.
  void insert(const SearchKey& key, std::span<const Slot> slots) {
    if (slots.empty()) return;
    Entry& entry = claim(key);
    for (const Slot slot : slots) insert(entry, slot);
  }
  /// Brings the events that were late when they were taken in where they belong: those of a key all
  /// together, for the cost of the events behind the first of them.
  void put_in_order();
  /// Gives each of the tables, which are empty, the keys for which `hash >> shift` is its number.
  void divide(std::span<KeyTable> tables, unsigned shift);
  /// Forgets by and by what the store has dropped: looks at `steps` entries of the table now.
  void drop_gone(std::size_t steps);

  /// Hints, in this order for a group of keys: fetches what a search will read.
  void prefetch_entry(const SearchKey& key) const { __builtin_prefetch(&table_[start_of(key)]); }
  void prefetch_posting(const SearchKey& key) const {
    const Entry& entry = table_[start_of(key)];
    if (entry.words == nullptr) return;
    const std::uint64_t* const end = entry.words + entry.size * layout_.stride();
    __builtin_prefetch(end - layout_.stride());
    __builtin_prefetch(end);
  }
  /// The key's events; some may be beyond what the store still holds, at timestamps that are
  /// dropped.
  Posting find(const SearchKey& key) const;
  /// Calls `f(posting)` for every key with an event later than `after`, in no order.
  template <class F>
  void for_each_later(Timestamp after, F&& f) const {
    for (const Entry& entry : table_) {
      if (entry.words == nullptr || entry.newest <= after) continue;
      f(Posting(entry.words, layout_.stride(), entry.size));
    }
  }
  Datum value(const Posting& posting, std::uint32_t values, std::uint64_t index) const;
  /// See HashIndex.
  std::span<const double> floats(const Posting& posting, std::uint32_t values, Range range,
                                 std::span<double> into) const;
  /// See HashIndex.
  static std::span<const Summary> summaries(const Posting& posting, std::uint32_t values);
  /// The largest absolute value so far of the attribute with running sums.
  std::uint64_t magnitude(std::uint32_t sum) const { return magnitudes_[sum]; }

  std::size_t bytes() const { return table_.capacity() * sizeof(Entry) + posting_bytes_; }
  /// How many keys have events, and how many events all of them have, from a sample.
  std::size_t keys() const { return live_; }
  std::size_t events() const;

 private:
  /// An entry of the table: a key and its posting. When all its events are gone, it keeps its tag
  /// but has no posting, so that searches go on behind it.
  struct Entry {
    std::uint64_t tag = 0;
    Timestamp newest = 0;
    std::uint64_t* words = nullptr;
    std::uint32_t size = 0;           ///< events
    std::uint32_t capacity : 31 = 0;  ///< 0: never used
    /// Its last events, from the first late one on, stand as they came, and have values in place of
    /// running sums.
    std::uint32_t disordered : 1 = 0;

    bool is_vacant() const { return capacity == 0; }
  };
  static_assert(sizeof(Entry) == 32);
  using Table = std::vector<Entry, HugeAllocator<Entry>>;
  struct Disordered {
    Entry* entry;
    std::uint32_t sorted;  ///< so many of its events stand in order
  };

  /// The summaries of each of `KeyLayout::values`. The memory of the posting holds the pointer to
  /// them, in the word before its events.
  using Summaries = std::vector<std::vector<Summary>>;

  static constexpr std::size_t kSmallestTable = 4;
  static constexpr std::uint32_t kSmallestPosting = 2;
  static constexpr std::size_t kSparse = 16;  ///< a table of so many entries per key shrinks

  std::size_t start_of(const SearchKey& key) const { return key.hash_ & (table_.size() - 1); }
  std::uint64_t hash_of(const Entry& entry) const {
    return layout_.exact ? mix(entry.tag) : entry.tag;
  }
  bool is_gone(Timestamp timestamp) const { return timestamp <= store_.horizon(); }
  bool has_key(const Entry& entry, const SearchKey& key) const {
    if (entry.tag != key.tag_ || entry.words == nullptr) return false;
    return layout_.exact || has_values(entry, key);
  }
  bool has_values(const Entry& entry, const SearchKey& key) const;
  Entry& claim(const SearchKey& key);
  void make_room(Entry& entry);
  void insert(Entry& entry, Slot slot);
  void put_in_order(Entry& entry, std::uint32_t sorted);
  std::uint32_t sorted_of(const Entry& entry) const;
  std::uint32_t merge_tail(Entry& entry, std::uint32_t sorted);
  static Summaries*& summaries_of(std::uint64_t* words) {
    return reinterpret_cast<Summaries*&>(words[-1]);
  }
  void summarise(Entry& entry, std::uint64_t from);
  Summary summary(const Posting& posting, std::uint32_t values, Range range) const;
  std::uint64_t* allocate(std::uint32_t capacity);
  void release(std::uint64_t* words, std::uint32_t capacity);
  std::size_t bytes_of(std::uint32_t capacity) const {
    return (layout_.header() + capacity * layout_.stride()) * sizeof(std::uint64_t);
  }
  static std::size_t summary_bytes(std::uint64_t* words);
  void drop_posting(Entry& entry);
  void rebuild();
  void fill(const Table& entries);
  Entry copy_of(const Entry& entry);

  const KeyLayout& layout_;
  const EventStore& store_;
  BlockPool& pool_;
  std::vector<std::uint64_t> magnitudes_;  // by running sum
  Table table_;                            // a power of two
  std::size_t used_ = 0;                   // entries that are not vacant
  std::size_t live_ = 0;                   // entries with a posting
  std::size_t posting_bytes_ = 0;
  std::size_t sweep_ = 0;               // the next entry that drop_gone looks at
  std::vector<Disordered> disordered_;  // none while anybody searches

  // Scratch of `merge_tail`: the events behind the sorted ones, and their order.
  std::vector<std::uint64_t> tail_;
  std::vector<std::uint32_t> order_;
};

}  // namespace gorgo::history
