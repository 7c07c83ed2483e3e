#include "history/hash_index.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <memory>

#include "history/evaluate.hpp"

namespace gorgo::history {

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

template <class F>
std::uint64_t Posting::partition_point(Range within, F&& is_beyond) const {
  while (within.first < within.last) {
    const std::uint64_t middle = within.first + (within.last - within.first) / 2;
    if (is_beyond(timestamp(middle))) {
      within.last = middle;
    } else {
      within.first = middle + 1;
    }
  }
  return within.first;
}

Range Posting::window(Timestamp after, Timestamp before) const {
  constexpr std::uint64_t kLinear = 8;  // is faster up to here
  Range range{0, size_};
  if (size_ > kLinear) {
    range.first = partition_point(range, [&](Timestamp t) { return t > after; });
    range.last = partition_point(range, [&](Timestamp t) { return t >= before; });
    return range;
  }
  while (range.first < range.last && timestamp(range.first) <= after) ++range.first;
  while (range.first < range.last && timestamp(range.last - 1) >= before) --range.last;
  return range;
}

bool HashIndex::Key::set_values(const HashIndex& index, std::span<const Datum> operands) {
  values_.clear();
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const auto value = as_key(operands[i], index.subjects_[i].type);
    if (!value) return false;
    values_.push_back(*value);
  }
  tag_ = key_hash(values_);
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
  for (Entry& entry : table_) drop_posting(entry);
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

void HashIndex::add_values(std::uint32_t attribute) {
  clear();
  values_.push_back(attribute);
}

std::optional<std::uint32_t> HashIndex::find_values(std::uint32_t attribute) const {
  const auto found = std::find(values_.begin(), values_.end(), attribute);
  if (found == values_.end()) return std::nullopt;
  return static_cast<std::uint32_t>(found - values_.begin());
}

Datum HashIndex::value(const Posting& posting, std::uint32_t values, std::uint64_t index) const {
  const auto column = static_cast<std::uint32_t>(sums_.size()) + values;
  const std::uint64_t word = posting.word(column, index);
  return store_.attribute_type(values_[values]) == ValueType::floating
             ? Datum::of(std::bit_cast<double>(word))
             : Datum::of(std::bit_cast<std::int64_t>(word));
}

std::span<const Summary> HashIndex::summaries(const Posting& posting, std::uint32_t values) const {
  if (posting.words_ == nullptr) return {};
  const auto* const all = reinterpret_cast<const Summaries*>(posting.words_[-1]);
  if (all == nullptr) return {};
  return (*all)[values];
}

/// Brings the summaries up to date when the events from `from` on are new or have moved.
/// Precondition: there are values.
void HashIndex::summarise(Entry& entry, std::uint64_t from) {
  constexpr std::uint64_t kWorthwhile = 2;  // groups
  const std::uint64_t full = entry.size / Posting::kGroup;
  Summaries*& all = summaries_of(entry.words);
  if (all == nullptr && full < kWorthwhile) return;
  if (all == nullptr) all = new Summaries(values_.size());
  const Posting posting(entry.words, stride(), entry.size);
  for (std::uint32_t v = 0; v < values_.size(); ++v) {
    auto& groups = (*all)[v];
    posting_bytes_ -= groups.capacity() * sizeof(Summary);
    if (groups.size() > from / Posting::kGroup) groups.resize(from / Posting::kGroup);
    while (groups.size() < full) {
      const std::uint64_t first = groups.size() * Posting::kGroup;
      Summary next = summary(posting, v, {first, first + Posting::kGroup});
      if (!groups.empty()) next.sum.add(groups.back().sum);
      groups.push_back(next);
    }
    posting_bytes_ += groups.capacity() * sizeof(Summary);
  }
}

Summary HashIndex::summary(const Posting& posting, std::uint32_t values, Range range) const {
  Summary result;
  for (std::uint64_t i = range.first; i < range.last; ++i) {
    const Datum v = value(posting, values, i);
    if (v.tag == Datum::Tag::floating) {
      result.sum.add(v.floating);
      if (std::isnan(v.floating)) continue;
    }
    const auto surpasses = [&](Op op, const Datum& best) {
      return !best.exists() || arithmetic::compare(op, v, best);
    };
    if (surpasses(Op::less, result.least)) result.least = v;
    if (surpasses(Op::greater, result.greatest)) result.greatest = v;
  }
  return result;
}

bool HashIndex::has_values(const Entry& entry, const Key& key) const {
  // The store may have dropped what would tell.
  if (is_gone(entry.newest)) return false;
  const Slot newest = Posting(entry.words, stride(), entry.size).slot(entry.size - 1);
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
    return {entry.words, stride(), entry.size};
  }
}

/// The entry of the key, or one for it without a posting.
HashIndex::Entry& HashIndex::claim(const Key& key) {
  if ((used_ + 1) * 4 > table_.size() * 3) rebuild();
  Entry* reusable = nullptr;
  for (std::size_t at = start_of(key.tag_);; at = (at + 1) & (table_.size() - 1)) {
    Entry& entry = table_[at];
    if (has_key(entry, key)) return entry;
    if (reusable == nullptr && entry.words == nullptr) reusable = &entry;
    if (entry.is_vacant()) break;
  }
  if (reusable->is_vacant()) ++used_;
  *reusable = {.tag = key.tag_, .capacity = 1};
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
      prefetch_entry(fresh_[i]);
    }
    for (std::size_t i = 0; i < group.size(); ++i) {
      if ((has_key_of >> i & 1) != 0) prefetch_posting(fresh_[i]);
    }
    for (std::size_t i = 0; i < group.size(); ++i) {
      if ((has_key_of >> i & 1) != 0) insert(claim(fresh_[i]), group[i]);
    }
  }
}

void HashIndex::insert(Entry& entry, Slot slot) {
  make_room(entry);
  const std::size_t width = stride();
  const Timestamp timestamp = store_.timestamp(slot);
  std::uint64_t* at = entry.words + entry.size * width;
  const bool late = entry.size > 0 && timestamp < entry.newest;
  while (late && at != entry.words && static_cast<Timestamp>(at[-width]) > timestamp) {
    at = std::copy_backward(at - width, at, at + width) - width;
  }
  at[0] = static_cast<std::uint64_t>(timestamp);
  at[1] = slot;
  ++entry.size;
  const std::uint64_t* const end = entry.words + entry.size * width;
  if (!late) entry.newest = timestamp;
  for (std::size_t i = 0; i < values_.size(); ++i) {
    at[2 + sums_.size() + i] = key_word(store_.attribute(slot, values_[i]));
  }
  for (std::size_t i = 0; i < sums_.size(); ++i) {
    const std::int64_t value = store_.attribute(slot, sums_[i].attribute).integer;
    sums_[i].magnitude = std::max(sums_[i].magnitude, magnitude_of(value));
    const std::size_t sum = 2 + i;
    at[sum] = (at == entry.words ? 0 : at[sum - width]) + static_cast<std::uint64_t>(value);
    for (std::uint64_t* later = at + width; later != end; later += width) {
      later[sum] += static_cast<std::uint64_t>(value);
    }
  }
  if (!values_.empty()) summarise(entry, static_cast<std::uint64_t>(at - entry.words) / width);
}

/// Afterwards there is room for one more event behind the last.
void HashIndex::make_room(Entry& entry) {
  if (entry.words == nullptr) {
    entry.words = allocate(kSmallestPosting);
    entry.size = 0;
    entry.capacity = kSmallestPosting;
    ++live_;
    return;
  }
  if (entry.size < entry.capacity) return;
  const std::size_t width = stride();
  const Posting posting(entry.words, width, entry.size);
  std::uint32_t gone = 0;
  while (gone < entry.size && is_gone(posting.timestamp(gone))) ++gone;
  const std::uint32_t kept = entry.size - gone;
  std::uint64_t* to = entry.words;
  const std::uint32_t capacity = 2 * kept <= entry.capacity ? entry.capacity : 2 * entry.capacity;
  if (capacity != entry.capacity) to = allocate(capacity);
  for (std::size_t i = 0; i < sums_.size() && gone > 0; ++i) {
    const std::uint64_t before = entry.words[(gone - 1) * width + 2 + i];
    for (std::uint32_t j = gone; j < entry.size; ++j) entry.words[j * width + 2 + i] -= before;
  }
  std::copy_n(entry.words + gone * width, kept * width, to);
  if (to != entry.words) {
    if (header() > 0) std::swap(summaries_of(to), summaries_of(entry.words));
    release(entry.words, entry.capacity);
  }
  entry.words = to;
  entry.size = kept;
  entry.capacity = capacity;
  if (gone > 0 && !values_.empty()) summarise(entry, 0);
}

std::uint64_t* HashIndex::allocate(std::uint32_t capacity) {
  const std::size_t bytes = (header() + capacity * stride()) * sizeof(std::uint64_t);
  posting_bytes_ += bytes;
  auto* const words = reinterpret_cast<std::uint64_t*>(pool_.allocate(bytes)) + header();
  if (header() > 0) summaries_of(words) = nullptr;
  return words;
}

void HashIndex::release(std::uint64_t* words, std::uint32_t capacity) {
  const std::size_t bytes = (header() + capacity * stride()) * sizeof(std::uint64_t);
  posting_bytes_ -= bytes;
  if (header() > 0) {
    const std::unique_ptr<Summaries> all(summaries_of(words));
    for (std::size_t v = 0; all && v < all->size(); ++v) {
      posting_bytes_ -= (*all)[v].capacity() * sizeof(Summary);
    }
  }
  pool_.release(reinterpret_cast<std::byte*>(words - header()), bytes);
}

void HashIndex::drop_posting(Entry& entry) {
  if (entry.words == nullptr) return;
  release(entry.words, entry.capacity);
  entry.words = nullptr;
  entry.size = 0;
  --live_;
}

void HashIndex::drop_gone(std::size_t steps) {
  for (steps = std::min(steps, table_.size()); steps > 0; --steps) {
    Entry& entry = table_[sweep_];
    if (entry.words != nullptr && is_gone(entry.newest)) drop_posting(entry);
    sweep_ = (sweep_ + 1) & (table_.size() - 1);
  }
  if (live_ * kSparse < table_.size() && table_.size() > kSmallestTable) rebuild();
}

/// Moves the entries that have events to a table of the right size.
void HashIndex::rebuild() {
  for (Entry& entry : table_) {
    if (entry.words != nullptr && is_gone(entry.newest)) drop_posting(entry);
  }
  // At most three quarters are used now; leave room for half as many again.
  std::size_t size = kSmallestTable;
  while (size * 3 < live_ * 5) size *= 2;
  Table old(size);
  old.swap(table_);
  used_ = live_;
  sweep_ = 0;
  for (const Entry& entry : old) {
    if (entry.words == nullptr) continue;
    std::size_t at = start_of(entry.tag);
    while (!table_[at].is_vacant()) at = (at + 1) & (size - 1);
    table_[at] = entry;
  }
}

std::size_t HashIndex::events() const {
  constexpr std::size_t kSample = 1024;
  if (table_.empty()) return 0;
  const std::size_t sample = std::min(kSample, table_.size());
  std::size_t events = 0;
  for (std::size_t i = 0; i < sample; ++i) events += table_[i].size;
  return events * (table_.size() / sample);
}

std::size_t HashIndex::bytes() const { return table_.capacity() * sizeof(Entry) + posting_bytes_; }

}  // namespace gorgo::history
