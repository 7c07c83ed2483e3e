#include "history/range_index.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <utility>

namespace gorgo::history {
namespace {

constexpr std::size_t kTail = 64;                // scanned as a whole by every search
constexpr std::size_t kLargestMerge = 1U << 18;  // entries: about a millisecond at once
constexpr std::size_t kBlock = 64;               // entries: few cache lines

constexpr std::uint64_t kSign = std::uint64_t{1} << 63;

/// In the order of the values; a NaN has no place in it.
std::optional<std::uint64_t> key_of(const Datum& number) {
  if (number.tag == Datum::Tag::integer) {
    return std::bit_cast<std::uint64_t>(number.integer) ^ kSign;
  }
  if (number.tag != Datum::Tag::floating || std::isnan(number.floating)) return std::nullopt;
  const auto word = std::bit_cast<std::uint64_t>(number.floating + 0.0);  // -0 is 0
  return (word & kSign) != 0 ? ~word : word | kSign;
}

/// The first of sorted items that is not `before`, without a branch that could be mispredicted.
template <class T, class Before>
const T* partition_of(std::span<const T> items, Before before) {
  const T* at = items.data();
  std::size_t count = items.size();
  if (count == 0) return at;
  while (count > 1) {
    const std::size_t half = count / 2;
    at += before(at[half - 1]) ? half : 0;
    count -= half;
  }
  return at + (before(*at) ? 1 : 0);
}

}  // namespace

void RangeIndex::Bounds::restrict_to(Op op, const Datum& operand) {
  const bool below = op == Op::less || op == Op::less_equal;
  const bool above = op == Op::greater || op == Op::greater_equal;
  if (!below && !above) return;
  const auto key = key_of(operand);
  const bool open = op == Op::less || op == Op::greater;
  // Nothing lies beyond the ends of the order, and nothing compares with a NaN.
  const bool none = !key || (open && *key == (below ? 0 : ~std::uint64_t{0}));
  if (none) {
    first = 1;
    last = 0;
  } else if (below) {
    last = std::min(last, open ? *key - 1 : *key);
  } else {
    first = std::max(first, open ? *key + 1 : *key);
  }
}

void RangeIndex::add(std::span<const Slot> slots) {
  for (const Slot slot : slots) {
    const auto key = key_of(store_.attribute(slot, attribute_));
    if (key) tail_.push_back({*key, slot});
    if (tail_.size() == kTail) close_tail();
  }
}

void RangeIndex::close_tail() {
  const Slot newest = tail_.back().slot;
  std::sort(tail_.begin(), tail_.end(),
            [](const Entry& a, const Entry& b) { return a.key < b.key; });
  runs_.push_back(sorted(std::exchange(tail_, {})));
  runs_.back().newest = newest;
  while (runs_.size() > 1) {
    const Run& newer = runs_[runs_.size() - 1];
    const Run& older = runs_[runs_.size() - 2];
    const std::size_t size = newer.entries.size();
    if (older.entries.size() >= 2 * size || older.entries.size() + size > kLargestMerge) return;
    Run both = merged(older, newer);
    runs_.pop_back();
    runs_.back() = std::move(both);
  }
}

RangeIndex::Run RangeIndex::sorted(std::vector<Entry> entries) {
  Run run{.entries = std::move(entries), .fences = {}};
  run.fences.reserve(run.entries.size() / kBlock + 1);
  for (std::size_t i = 0; i < run.entries.size(); i += kBlock) {
    run.fences.push_back(run.entries[i].key);
  }
  return run;
}

/// Without what is gone.
RangeIndex::Run RangeIndex::merged(const Run& older, const Run& newer) const {
  const Slot begin = store_.begin();
  std::vector<Entry> entries(older.entries.size() + newer.entries.size());
  Entry* to = entries.data();
  const auto take = [&](const Entry& entry) {
    *to = entry;
    to += entry.slot >= begin ? 1 : 0;
  };
  const Entry* a = older.entries.data();
  const Entry* b = newer.entries.data();
  const Entry* const a_end = a + older.entries.size();
  const Entry* const b_end = b + newer.entries.size();
  while (a != a_end && b != b_end) take(b->key < a->key ? *b++ : *a++);
  while (a != a_end) take(*a++);
  while (b != b_end) take(*b++);
  entries.resize(static_cast<std::size_t>(to - entries.data()));
  Run run = sorted(std::move(entries));
  run.newest = newer.newest;
  return run;
}

void RangeIndex::drop_gone() {
  while (!runs_.empty() && runs_.front().newest < store_.begin()) runs_.pop_front();
}

/// The block in which the first entry from `key` on stands, or behind which it does.
std::size_t RangeIndex::block_of(const Run& run, std::uint64_t key) {
  const std::span<const std::uint64_t> fences = run.fences;
  const auto* const fence = partition_of(fences, [&](std::uint64_t f) { return f < key; });
  const auto before = static_cast<std::size_t>(fence - fences.data());
  return before == 0 ? 0 : before - 1;
}

/// `block`: that of the first key. Where there are more than `most`, perhaps not all of them, but
/// more than that.
std::span<const RangeIndex::Entry> RangeIndex::within(const Run& run, std::size_t block,
                                                      const Bounds& bounds, std::size_t most) {
  const std::span<const Entry> entries = run.entries;
  const auto block_at = [&](std::size_t i) {
    return entries.subspan(i * kBlock, std::min(kBlock, entries.size() - i * kBlock));
  };
  if (entries.empty()) return {};
  const Entry* const first =
      partition_of(block_at(block), [&](const Entry& entry) { return entry.key < bounds.first; });
  const std::size_t furthest = std::min(run.fences.size() - 1, block + most / kBlock + 2);
  while (block < furthest && run.fences[block + 1] <= bounds.last) ++block;
  const Entry* const last =
      partition_of(block_at(block), [&](const Entry& entry) { return entry.key <= bounds.last; });
  return {first, last};
}

/// Of the entries those that the store still holds.
void RangeIndex::append(std::span<const Entry> entries, std::vector<Slot>& slots) const {
  const std::size_t known = slots.size();
  const Slot begin = store_.begin();
  slots.resize(known + entries.size());
  Slot* to = slots.data() + known;
  for (const Entry& entry : entries) {
    *to = entry.slot;
    to += entry.slot >= begin ? 1 : 0;
  }
  slots.resize(static_cast<std::size_t>(to - slots.data()));
}

bool RangeIndex::find(const Bounds& bounds, std::size_t most, std::vector<Slot>& slots) const {
  constexpr std::size_t kGroup = 8;  // runs whose cache misses overlap
  if (bounds.first > bounds.last) return true;
  std::size_t room = most;
  std::array<std::size_t, kGroup> blocks{};
  for (std::size_t begin = 0; begin < runs_.size(); begin += kGroup) {
    const std::size_t end = std::min(begin + kGroup, runs_.size());
    for (std::size_t i = begin; i < end; ++i) {
      const std::size_t block = blocks[i - begin] = block_of(runs_[i], bounds.first);
      __builtin_prefetch(runs_[i].entries.data() + block * kBlock + kBlock / 2);
    }
    for (std::size_t i = begin; i < end; ++i) {
      const auto entries = within(runs_[i], blocks[i - begin], bounds, room);
      if (entries.size() > room) return false;
      room -= entries.size();
      append(entries, slots);
    }
  }
  for (const Entry& entry : tail_) {
    if (entry.key < bounds.first || entry.key > bounds.last) continue;
    if (room-- == 0) return false;
    append({&entry, 1}, slots);
  }
  return true;
}

std::size_t RangeIndex::bytes() const {
  std::size_t total = sizeof(*this) + tail_.capacity() * sizeof(Entry);
  for (const Run& run : runs_) {
    total += sizeof(Run) + run.entries.capacity() * sizeof(Entry) +
             run.fences.capacity() * sizeof(std::uint64_t);
  }
  return total;
}

}  // namespace gorgo::history
