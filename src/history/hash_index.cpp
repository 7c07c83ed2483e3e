#include "history/hash_index.hpp"

#include <algorithm>
#include <cstring>

#include "history/evaluate.hpp"

namespace gorgo::history {

/// The arrays of a posting: per event its timestamp and its slot, and for each sum what stands
/// before each event and, last, before the next one to come.
struct HashIndex::Block {
  static constexpr std::size_t kHeader = 8;

  Block(std::byte* start, std::uint32_t size) : start_(start), capacity_(size) {}
  explicit Block(std::byte* start) : start_(start) {
    std::memcpy(&capacity_, start, sizeof(capacity_));
  }

  static std::size_t bytes(std::uint32_t capacity, std::size_t sums) {
    const std::size_t n = capacity;
    return kHeader + 8 * (2 * n + sums * (n + 1));
  }

  void begin(std::size_t sums) {
    std::memcpy(start_, &capacity_, sizeof(capacity_));
    for (std::size_t i = 0; i < sums; ++i) sum(i)[0] = 0;
  }

  std::byte* start() { return start_; }
  std::uint32_t capacity() const { return capacity_; }
  Timestamp* timestamps() { return reinterpret_cast<Timestamp*>(start_ + kHeader); }
  Slot* slots() { return reinterpret_cast<Slot*>(timestamps() + capacity_); }
  std::uint64_t* sum(std::size_t i) { return slots() + capacity_ + i * (capacity_ + 1); }

  /// Copies elements [first, last) of `from`, which may be this block, to the front.
  void take(Block from, std::uint32_t first, std::uint32_t last, std::size_t sums) {
    const std::size_t count = last - first;
    std::memmove(timestamps(), from.timestamps() + first, count * sizeof(Timestamp));
    std::memmove(slots(), from.slots() + first, count * sizeof(Slot));
    for (std::size_t i = 0; i < sums; ++i) {
      std::memmove(sum(i), from.sum(i) + first, (count + 1) * sizeof(std::uint64_t));
    }
  }

 private:
  std::byte* start_;
  std::uint32_t capacity_ = 0;
};

namespace {

Datum value_of(const Expr& subject, const EventStore& store, Slot slot) {
  if (subject.op == Op::attribute) return store.attribute(slot, subject.index);
  return evaluate(subject, {.candidate = {&store, slot}, .states = {}, .aggregates = {}});
}

std::uint64_t magnitude_of(std::int64_t value) {
  const auto bits = static_cast<std::uint64_t>(value);
  return value < 0 ? ~bits + 1 : bits;
}

}  // namespace

Range Posting::window(Timestamp after, Timestamp before) const {
  Range range = all_;
  if (range.size() > kLinear) {
    const Timestamp* const from = timestamps_ + range.first;
    const Timestamp* const to = timestamps_ + range.last;
    const Timestamp* const first = std::upper_bound(from, to, after);
    const Timestamp* const last = std::lower_bound(first, to, before);
    return {static_cast<std::uint64_t>(first - timestamps_),
            static_cast<std::uint64_t>(last - timestamps_)};
  }
  while (range.first < range.last && timestamps_[range.first] <= after) ++range.first;
  while (range.first < range.last && timestamps_[range.last - 1] >= before) --range.last;
  return range;
}

bool HashIndex::Key::set(const HashIndex& index, std::span<const Datum> operands) {
  values_.clear();
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const auto value = as_key(operands[i], index.subjects_[i].type);
    if (!value) return false;
    values_.push_back(*value);
  }
  tag_ = index.exact_ ? key_word(values_[0]) : key_hash(values_);
  return true;
}

HashIndex::HashIndex(std::vector<Expr> subjects, const EventStore& store, BlockPool& pool)
    : subjects_(std::move(subjects)),
      store_(store),
      pool_(pool),
      exact_(subjects_.size() == 1 && subjects_[0].type != ValueType::string),
      table_(kSmallestTable) {}

HashIndex::~HashIndex() { clear(); }

void HashIndex::clear() {
  for (Entry& entry : table_) drop_block(entry);
  table_.assign(kSmallestTable, {});
  used_ = 0;
  sweep_ = 0;
}

void HashIndex::add_sum(std::uint32_t attribute) {
  clear();
  sums_.push_back({.attribute = attribute});
}

std::optional<std::uint32_t> HashIndex::find_sum(std::uint32_t attribute) const {
  for (std::uint32_t i = 0; i < sums_.size(); ++i) {
    if (sums_[i].attribute == attribute) return i;
  }
  return std::nullopt;
}

bool HashIndex::has_key(const Entry& entry, const Key& key) const {
  if (entry.tag != key.tag_ || entry.block == nullptr) return false;
  if (exact_) return true;
  // The store may have dropped what would tell.
  if (is_gone(entry.newest)) return false;
  const Slot newest = Block(entry.block).slots()[entry.last - 1];
  for (std::size_t i = 0; i < subjects_.size(); ++i) {
    const Datum value = value_of(subjects_[i], store_, newest);
    if (!arithmetic::compare(Op::equal, value, key.values_[i])) return false;
  }
  return true;
}

Posting HashIndex::find(const Key& key) const {
  for (std::size_t at = start_of(key.tag_);; at = (at + 1) & (table_.size() - 1)) {
    const Entry& entry = table_[at];
    if (entry.is_vacant()) return {};
    if (!has_key(entry, key)) continue;
    Block block(entry.block);
    return {block.timestamps(),
            block.slots(),
            sums_.empty() ? nullptr : block.sum(0),
            block.capacity() + 1,
            {entry.first, entry.last}};
  }
}

void HashIndex::prefetch_posting(const Key& key) const {
  __builtin_prefetch(table_[start_of(key.tag_)].block);
}

/// The entry of the key, or one for it without a block.
HashIndex::Entry& HashIndex::claim(const Key& key) {
  if ((used_ + 1) * 4 > table_.size() * 3) rebuild();
  Entry* reusable = nullptr;
  for (std::size_t at = start_of(key.tag_);; at = (at + 1) & (table_.size() - 1)) {
    Entry& entry = table_[at];
    if (has_key(entry, key)) return entry;
    if (reusable == nullptr && entry.block == nullptr) reusable = &entry;
    if (entry.is_vacant()) break;
  }
  if (reusable->is_vacant()) ++used_;
  *reusable = {.tag = key.tag_, .last = 1};
  return *reusable;
}

void HashIndex::add(std::span<const Slot> slots) {
  constexpr std::size_t kGroup = 16;  // whose cache misses overlap
  fresh_.resize(std::max(fresh_.size(), std::min(kGroup, slots.size())));
  operands_.resize(subjects_.size());
  for (; !slots.empty(); slots = slots.subspan(std::min(kGroup, slots.size()))) {
    const auto group = slots.first(std::min(kGroup, slots.size()));
    std::uint32_t has_key_of = 0;
    for (std::size_t i = 0; i < group.size(); ++i) {
      for (std::size_t s = 0; s < subjects_.size(); ++s) {
        operands_[s] = value_of(subjects_[s], store_, group[i]);
      }
      if (!fresh_[i].set(*this, operands_)) continue;
      has_key_of |= std::uint32_t{1} << i;
      prefetch(fresh_[i]);
    }
    for (std::size_t i = 0; i < group.size(); ++i) {
      if ((has_key_of >> i & 1) != 0) insert(claim(fresh_[i]), group[i]);
    }
  }
}

void HashIndex::insert(Entry& entry, Slot slot) {
  make_room(entry);
  Block block(entry.block);
  const Timestamp timestamp = store_.timestamp(slot);
  std::uint32_t at = entry.last;
  for (; at > entry.first && block.timestamps()[at - 1] > timestamp; --at) {
    block.timestamps()[at] = block.timestamps()[at - 1];
    block.slots()[at] = block.slots()[at - 1];
  }
  block.timestamps()[at] = timestamp;
  block.slots()[at] = slot;
  for (std::size_t i = 0; i < sums_.size(); ++i) {
    const std::int64_t value = store_.attribute(slot, sums_[i].attribute).integer;
    sums_[i].magnitude = std::max(sums_[i].magnitude, magnitude_of(value));
    std::uint64_t* const sum = block.sum(i);
    for (std::uint32_t j = entry.last + 1; j > at; --j) {
      sum[j] = sum[j - 1] + static_cast<std::uint64_t>(value);
    }
  }
  ++entry.last;
  entry.newest = block.timestamps()[entry.last - 1];
}

/// Afterwards there is room for one more event behind the last.
void HashIndex::make_room(Entry& entry) {
  if (entry.block == nullptr) {
    entry.block = pool_.allocate(Block::bytes(kSmallestBlock, sums_.size()));
    block_bytes_ += Block::bytes(kSmallestBlock, sums_.size());
    Block(entry.block, kSmallestBlock).begin(sums_.size());
    entry.first = entry.last = 0;
    ++live_;
    return;
  }
  Block block(entry.block);
  if (entry.last < block.capacity()) return;
  while (entry.first < entry.last && is_gone(block.timestamps()[entry.first])) ++entry.first;
  const std::uint32_t kept = entry.last - entry.first;
  if (kept <= block.capacity() / 2) {
    block.take(block, entry.first, entry.last, sums_.size());
  } else {
    const std::uint32_t capacity = 2 * block.capacity();
    std::byte* const start = pool_.allocate(Block::bytes(capacity, sums_.size()));
    Block larger(start, capacity);
    larger.begin(0);
    larger.take(block, entry.first, entry.last, sums_.size());
    release(block);
    entry.block = start;
    block_bytes_ += Block::bytes(capacity, sums_.size());
  }
  entry.first = 0;
  entry.last = kept;
}

void HashIndex::release(Block block) {
  const std::size_t bytes = Block::bytes(block.capacity(), sums_.size());
  pool_.release(block.start(), bytes);
  block_bytes_ -= bytes;
}

void HashIndex::drop_block(Entry& entry) {
  if (entry.block == nullptr) return;
  release(Block(entry.block));
  entry.block = nullptr;
  entry.first = 0;
  entry.last = 1;  // not vacant
  --live_;
}

void HashIndex::drop_gone(std::size_t steps) {
  for (steps = std::min(steps, table_.size()); steps > 0; --steps) {
    Entry& entry = table_[sweep_];
    if (entry.block != nullptr && is_gone(entry.newest)) drop_block(entry);
    sweep_ = (sweep_ + 1) & (table_.size() - 1);
  }
  if (live_ * kSparse < table_.size() && table_.size() > kSmallestTable) rebuild();
}

/// Moves the entries that have events to a table of the right size.
void HashIndex::rebuild() {
  for (Entry& entry : table_) {
    if (entry.block != nullptr && is_gone(entry.newest)) drop_block(entry);
  }
  // At most three quarters are used now; leave room for half as many again.
  std::size_t size = kSmallestTable;
  while (size * 3 < live_ * 5) size *= 2;
  std::vector<Entry> old(size);
  old.swap(table_);
  used_ = live_;
  sweep_ = 0;
  for (const Entry& entry : old) {
    if (entry.block == nullptr) continue;
    std::size_t at = start_of(entry.tag);
    while (!table_[at].is_vacant()) at = (at + 1) & (size - 1);
    table_[at] = entry;
  }
}

std::size_t HashIndex::bytes() const { return table_.capacity() * sizeof(Entry) + block_bytes_; }

}  // namespace gorgo::history
