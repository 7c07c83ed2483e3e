#include "history/key_table.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <numeric>
#include <utility>

#include "history/evaluate.hpp"

namespace gorgo::history {
namespace {

std::uint64_t magnitude_of(std::int64_t value) {
  const auto bits = static_cast<std::uint64_t>(value);
  return value < 0 ? ~bits + 1 : bits;
}

/// Compares two values of one type, neither of which is NaN. Floats come first, because most of
/// what is summarised is floats.
bool is_less(const Datum& a, const Datum& b) {
  if (a.tag == Datum::Tag::floating) return a.floating < b.floating;
  return arithmetic::compare(Op::less, a, b);
}

}  // namespace

Datum KeyLayout::subject(std::size_t index, const EventStore& store, Slot slot) const {
  const Expr& expr = subjects[index];
  if (expr.op == Op::attribute) return store.attribute(slot, expr.index);
  return evaluate(expr, {.candidate = {&store, slot}, .states = {}, .aggregates = {}});
}

bool SearchKey::set_values(const KeyLayout& layout, std::span<const Datum> operands) {
  values_.clear();
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const auto value = as_key(operands[i], layout.subjects[i].type);
    if (!value) return false;
    values_.push_back(*value);
  }
  tag_ = hash_ = key_hash(values_);
  return true;
}

KeyTable::KeyTable(const KeyLayout& layout, const EventStore& store, BlockPool& pool)
    : layout_(layout),
      store_(store),
      pool_(pool),
      magnitudes_(layout.sums.size()),
      table_(kSmallestTable) {}

KeyTable::~KeyTable() {
  for (Entry& entry : table_) drop_posting(entry);
}

Datum KeyTable::value(const Posting& posting, std::uint32_t values, std::uint64_t index) const {
  const auto column = static_cast<std::uint32_t>(layout_.sums.size()) + values;
  const std::uint64_t word = posting.word(column, index);
  return store_.attribute_type(layout_.values[values]) == ValueType::floating
             ? Datum::of(std::bit_cast<double>(word))
             : Datum::of(std::bit_cast<std::int64_t>(word));
}

std::span<const double> KeyTable::floats(const Posting& posting, std::uint32_t values, Range range,
                                         std::span<double> into) const {
  const auto column = static_cast<std::uint32_t>(layout_.sums.size()) + values;
  for (std::uint64_t i = range.first; i < range.last; ++i) {
    into[i - range.first] = std::bit_cast<double>(posting.word(column, i));
  }
  return into.first(range.size());
}

std::span<const Summary> KeyTable::summaries(const Posting& posting, std::uint32_t values) {
  if (posting.words_ == nullptr) return {};
  const auto* const all = reinterpret_cast<const Summaries*>(posting.words_[-1]);
  if (all == nullptr) return {};
  return (*all)[values];
}

/// Brings the summaries up to date when the events from `from` on are new or have moved.
/// Precondition: there are values.
void KeyTable::summarise(Entry& entry, std::uint64_t from) {
  constexpr std::uint64_t kWorthwhile = 2;  // groups
  const std::uint64_t full = entry.size / Posting::kGroup;
  Summaries*& all = summaries_of(entry.words);
  if (all == nullptr && full < kWorthwhile) return;
  if (all == nullptr) all = new Summaries(layout_.values.size());
  const Posting posting(entry.words, layout_.stride(), entry.size);
  for (std::uint32_t v = 0; v < layout_.values.size(); ++v) {
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

Summary KeyTable::summary(const Posting& posting, std::uint32_t values, Range range) const {
  Summary result;
  if (store_.attribute_type(layout_.values[values]) == ValueType::floating) {
    std::array<double, Posting::kGroup> group;
    result.sum.add(floats(posting, values, range, group));
  }
  for (std::uint64_t i = range.first; i < range.last; ++i) {
    const Datum v = value(posting, values, i);
    if (v.tag == Datum::Tag::floating && std::isnan(v.floating)) continue;
    if (!result.least.exists() || is_less(v, result.least)) result.least = v;
    if (!result.greatest.exists() || is_less(result.greatest, v)) result.greatest = v;
  }
  return result;
}

bool KeyTable::has_values(const Entry& entry, const SearchKey& key) const {
  // The store may have dropped the event whose values would tell.
  if (is_gone(entry.newest)) return false;
  const Slot newest = Posting(entry.words, layout_.stride(), entry.size).slot(entry.size - 1);
  for (std::size_t i = 0; i < layout_.subjects.size(); ++i) {
    const Datum value = layout_.subject(i, store_, newest);
    if (!arithmetic::compare(Op::equal, value, key.values_[i])) return false;
  }
  return true;
}

Posting KeyTable::find(const SearchKey& key) const {
  for (std::size_t at = start_of(key);; at = (at + 1) & (table_.size() - 1)) {
    const Entry& entry = table_[at];
    if (entry.is_vacant()) return {};
    if (!has_key(entry, key)) continue;
    return {entry.words, layout_.stride(), entry.size};
  }
}

/// The entry of the key, or one for it without a posting.
KeyTable::Entry& KeyTable::claim(const SearchKey& key) {
  if ((used_ + 1) * 4 > table_.size() * 3) {
    put_in_order();  // what is noted of it names entries by where they stand
    rebuild();
  }
  Entry* reusable = nullptr;
  for (std::size_t at = start_of(key);; at = (at + 1) & (table_.size() - 1)) {
    Entry& entry = table_[at];
    if (has_key(entry, key)) return entry;
    if (reusable == nullptr && entry.words == nullptr) reusable = &entry;
    if (entry.is_vacant()) break;
  }
  if (reusable->is_vacant()) ++used_;
  *reusable = {.tag = key.tag_, .capacity = 1};
  return *reusable;
}

void KeyTable::insert(Entry& entry, Slot slot) {
  make_room(entry);
  const std::size_t width = layout_.stride();
  const Timestamp timestamp = store_.timestamp(slot);
  if (entry.size > 0 && timestamp < entry.newest && !entry.disordered) {
    disordered_.push_back({&entry, entry.size});
    entry.disordered = 1;
  }
  std::uint64_t* const at = entry.words + entry.size * width;
  at[0] = static_cast<std::uint64_t>(timestamp);
  at[1] = slot;
  const bool follows = entry.size > 0 && !entry.disordered;
  for (std::size_t i = 0; i < layout_.sums.size(); ++i) {
    const std::int64_t value = store_.attribute(slot, layout_.sums[i]).integer;
    magnitudes_[i] = std::max(magnitudes_[i], magnitude_of(value));
    at[2 + i] = (follows ? (at - width)[2 + i] : 0) + static_cast<std::uint64_t>(value);
  }
  for (std::size_t i = 0; i < layout_.values.size(); ++i) {
    at[2 + layout_.sums.size() + i] = key_word(store_.attribute(slot, layout_.values[i]));
  }
  entry.newest = entry.size > 0 ? std::max(entry.newest, timestamp) : timestamp;
  ++entry.size;
  if (!entry.disordered && !layout_.values.empty()) summarise(entry, entry.size - 1);
}

void KeyTable::put_in_order() {
  // Where `make_room` has put a posting in order meanwhile, the last that is said of it holds.
  for (auto one = disordered_.rbegin(); one != disordered_.rend(); ++one) {
    if (one->entry->disordered) put_in_order(*one->entry, one->sorted);
  }
  disordered_.clear();
}

void KeyTable::put_in_order(Entry& entry, std::uint32_t sorted) {
  const std::size_t width = layout_.stride();
  const std::uint32_t from = merge_tail(entry, sorted);
  for (std::uint64_t* at = entry.words + std::max(from, 1U) * width;
       at < entry.words + entry.size * width; at += width) {
    for (std::size_t i = 2; i < 2 + layout_.sums.size(); ++i) at[i] += (at - width)[i];
  }
  entry.disordered = 0;
  if (!layout_.values.empty()) summarise(entry, from);
}

/// How many events stand in order before the first late one.
std::uint32_t KeyTable::sorted_of(const Entry& entry) const {
  const Posting posting(entry.words, layout_.stride(), entry.size);
  std::uint32_t sorted = 1;
  while (posting.timestamp(sorted) >= posting.timestamp(sorted - 1)) ++sorted;
  return sorted;
}

/// Merges the events behind the sorted ones into these. Returns from where on events have moved or
/// are new; their running sums are values then.
std::uint32_t KeyTable::merge_tail(Entry& entry, std::uint32_t sorted) {
  const std::size_t width = layout_.stride();
  const auto at = [&](std::uint32_t index) { return entry.words + index * width; };
  tail_.assign(at(sorted), at(entry.size));
  const auto time_of = [&](std::uint32_t number) {
    return static_cast<Timestamp>(tail_[number * width]);
  };
  order_.resize(entry.size - sorted);
  std::iota(order_.begin(), order_.end(), 0U);
  const auto by_time = [&](std::uint32_t i) { return std::pair(time_of(i), i); };
  // Late events come in the order of whoever sends them, most times.
  if (!std::ranges::is_sorted(order_, {}, by_time)) std::ranges::sort(order_, {}, by_time);
  // A late event stands behind its equals in time, which have earlier places.
  const auto first_after = [&](Timestamp timestamp, std::uint32_t end) {
    return static_cast<std::uint32_t>(
        Posting(entry.words, width, end).first_after_near_end(timestamp));
  };
  const std::uint32_t from = first_after(time_of(order_.front()), sorted);
  for (std::uint32_t i = sorted; i-- > std::max(from, 1U);) {
    for (std::size_t sum = 2; sum < 2 + layout_.sums.size(); ++sum) at(i)[sum] -= at(i - 1)[sum];
  }
  std::uint32_t end = sorted;
  for (auto i = static_cast<std::uint32_t>(order_.size()); i-- > 0;) {
    const std::uint32_t first = first_after(time_of(order_[i]), end);
    std::copy_backward(at(first), at(end), at(end + i + 1));
    std::copy_n(tail_.data() + order_[i] * width, width, at(first + i));
    end = first;
  }
  return from;
}

/// Makes room for one more event behind the last.
void KeyTable::make_room(Entry& entry) {
  if (entry.words == nullptr) {
    entry.words = allocate(kSmallestPosting);
    entry.size = 0;
    entry.capacity = kSmallestPosting;
    ++live_;
    return;
  }
  if (entry.size < entry.capacity) return;
  if (entry.disordered) put_in_order(entry, sorted_of(entry));
  const std::size_t width = layout_.stride();
  const Posting posting(entry.words, width, entry.size);
  std::uint32_t gone = 0;
  while (gone < entry.size && is_gone(posting.timestamp(gone))) ++gone;
  const std::uint32_t kept = entry.size - gone;
  std::uint64_t* to = entry.words;
  const std::uint32_t capacity = 2 * kept <= entry.capacity ? entry.capacity : 2 * entry.capacity;
  if (capacity != entry.capacity) to = allocate(capacity);
  for (std::size_t i = 0; i < layout_.sums.size() && gone > 0; ++i) {
    const std::uint64_t before = entry.words[(gone - 1) * width + 2 + i];
    for (std::uint32_t j = gone; j < entry.size; ++j) entry.words[j * width + 2 + i] -= before;
  }
  std::copy_n(entry.words + gone * width, kept * width, to);
  if (to != entry.words) {
    if (layout_.header() > 0) std::swap(summaries_of(to), summaries_of(entry.words));
    release(entry.words, entry.capacity);
  }
  entry.words = to;
  entry.size = kept;
  entry.capacity = capacity;
  if (gone > 0 && !layout_.values.empty()) summarise(entry, 0);
}

std::uint64_t* KeyTable::allocate(std::uint32_t capacity) {
  const std::size_t bytes = bytes_of(capacity);
  posting_bytes_ += bytes;
  auto* const words = reinterpret_cast<std::uint64_t*>(pool_.allocate(bytes)) + layout_.header();
  if (layout_.header() > 0) summaries_of(words) = nullptr;
  return words;
}

void KeyTable::release(std::uint64_t* words, std::uint32_t capacity) {
  const std::size_t bytes = bytes_of(capacity);
  posting_bytes_ -= bytes;
  if (layout_.header() > 0) {
    posting_bytes_ -= summary_bytes(words);
    delete summaries_of(words);
  }
  pool_.release(reinterpret_cast<std::byte*>(words - layout_.header()), bytes);
}

/// The bytes of the summaries that the posting has. Precondition: there are values.
std::size_t KeyTable::summary_bytes(std::uint64_t* words) {
  const Summaries* const all = summaries_of(words);
  std::size_t bytes = 0;
  for (std::size_t v = 0; all != nullptr && v < all->size(); ++v) {
    bytes += (*all)[v].capacity() * sizeof(Summary);
  }
  return bytes;
}

void KeyTable::drop_posting(Entry& entry) {
  if (entry.words == nullptr) return;
  release(entry.words, entry.capacity);
  entry.words = nullptr;
  entry.size = 0;
  --live_;
}

void KeyTable::drop_gone(std::size_t steps) {
  for (steps = std::min(steps, table_.size()); steps > 0; --steps) {
    Entry& entry = table_[sweep_];
    if (entry.words != nullptr && is_gone(entry.newest)) drop_posting(entry);
    sweep_ = (sweep_ + 1) & (table_.size() - 1);
  }
  if (live_ * kSparse < table_.size() && table_.size() > kSmallestTable) rebuild();
}

/// Moves the entries that have events to a table of the right size.
void KeyTable::rebuild() {
  for (Entry& entry : table_) {
    if (entry.words != nullptr && is_gone(entry.newest)) drop_posting(entry);
  }
  const Table old = std::exchange(table_, {});
  fill(old);
}

/// Precondition: `live_` of the entries have events.
void KeyTable::fill(const Table& entries) {
  // At most three quarters are used of a table; leave room for half as many again.
  std::size_t size = kSmallestTable;
  while (size * 3 < live_ * 5) size *= 2;
  table_.assign(size, {});
  used_ = live_;
  sweep_ = 0;
  for (const Entry& entry : entries) {
    if (entry.words == nullptr) continue;
    std::size_t at = hash_of(entry) & (size - 1);
    while (!table_[at].is_vacant()) at = (at + 1) & (size - 1);
    table_[at] = entry;
  }
}

void KeyTable::divide(std::span<KeyTable> tables, unsigned shift) {
  put_in_order();
  std::vector<Table> shares(tables.size());
  for (Entry& entry : table_) {
    if (entry.words == nullptr) continue;
    const std::size_t share = hash_of(entry) >> shift;
    shares[share].push_back(tables[share].copy_of(entry));
    drop_posting(entry);
  }
  for (std::size_t i = 0; i < tables.size(); ++i) {
    tables[i].magnitudes_ = magnitudes_;
    tables[i].fill(shares[i]);
  }
}

/// A copy of the entry with a posting of this table's own, which takes the summaries over.
KeyTable::Entry KeyTable::copy_of(const Entry& entry) {
  Entry copy = entry;
  copy.words = allocate(entry.capacity);
  ++live_;
  std::copy_n(entry.words, entry.size * layout_.stride(), copy.words);
  if (layout_.header() > 0) {
    std::swap(summaries_of(copy.words), summaries_of(entry.words));
    posting_bytes_ += summary_bytes(copy.words);
  }
  return copy;
}

std::size_t KeyTable::events() const {
  constexpr std::size_t kSample = 1024;
  if (table_.empty()) return 0;
  const std::size_t sample = std::min(kSample, table_.size());
  std::size_t events = 0;
  for (std::size_t i = 0; i < sample; ++i) events += table_[i].size;
  return events * (table_.size() / sample);
}

}  // namespace gorgo::history
