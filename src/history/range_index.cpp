#include "history/range_index.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

namespace gorgo::history {
namespace {

constexpr std::size_t kTail = 64;                // scanned as a whole by every search
constexpr std::size_t kLargestMerge = 1U << 16;  // entries: some tenths of a millisecond at once
constexpr std::size_t kBlock = 64;               // entries: few cache lines
constexpr std::size_t kMany = 4096;              // events whose values are worth dividing

/// Orders entries; no function, so that sorting inlines it.
constexpr auto kByKey = [](const auto& a, const auto& b) { return a.key < b.key; };

constexpr std::uint64_t kSign = std::uint64_t{1} << 63;

/// The number as a word in the order of the values; nothing for a NaN, which has no place in it.
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
  while (!slots.empty()) {
    const std::size_t count = std::min(kMany, slots.size());
    take(slots.first(count));
    tidy(0, 1);
    slots = slots.subspan(count);
  }
}

void RangeIndex::take(std::span<const Slot> slots) {
  if (parts_.size() == 1 && size_of(parts_.front()) >= kMany) divide();
  for (const Slot slot : slots) {
    const auto key = key_of(store_.attribute(slot, attribute_));
    if (key) parts_[part_of(*key)].tail.push_back({*key, slot});
  }
}

void RangeIndex::tidy(std::size_t share, std::size_t shares) {
  for (std::size_t i = share; i < parts_.size(); i += shares) tidy(parts_[i]);
}

void RangeIndex::tidy(Part& part) const {
  auto& [runs, tail] = part;
  if (tail.size() < kTail) return;
  const Slot newest = tail.back().slot;
  std::sort(tail.begin(), tail.end(), kByKey);
  runs.push_back(run_of({tail.begin(), tail.end()}));
  runs.back().newest = newest;
  tail.clear();
  while (runs.size() > 1) {
    const Run& newer = runs[runs.size() - 1];
    const Run& older = runs[runs.size() - 2];
    const std::size_t size = newer.entries.size();
    if (older.entries.size() >= 2 * size || older.entries.size() + size > kLargestMerge) return;
    Run both = merged(older, newer);
    runs.pop_back();
    runs.back() = std::move(both);
  }
}

std::size_t RangeIndex::size_of(const Part& part) {
  std::size_t size = part.tail.size();
  for (const Run& run : part.runs) size += run.entries.size();
  return size;
}

/// Divides the index into parts of about as many events. Those that come later may have other
/// values: then one part has most of them and is as good as an index that is not divided.
void RangeIndex::divide() {
  std::vector<Entry> all = std::move(parts_.front().tail);
  for (const Run& run : parts_.front().runs) {
    all.insert(all.end(), run.entries.begin(), run.entries.end());
  }
  std::sort(all.begin(), all.end(), kByKey);
  parts_.clear();
  parts_.resize(kParts);
  for (std::size_t i = 1; i < kParts; ++i) {
    boundaries_.push_back(all[i * all.size() / kParts].key);
  }
  for (auto first = all.begin(); first != all.end();) {
    Part& part = parts_[part_of(first->key)];
    const auto last = std::find_if(
        first, all.end(), [&](const Entry& e) { return &parts_[part_of(e.key)] != &part; });
    Run& run = part.runs.emplace_back(run_of({first, last}));
    for (const Entry& entry : run.entries) run.newest = std::max(run.newest, entry.slot);
    first = last;
  }
}

std::size_t RangeIndex::part_of(std::uint64_t key) const {
  const std::span<const std::uint64_t> boundaries = boundaries_;
  const auto* const boundary =
      partition_of(boundaries, [&](std::uint64_t first) { return first <= key; });
  return static_cast<std::size_t>(boundary - boundaries.data());
}

RangeIndex::Run RangeIndex::run_of(std::vector<Entry> sorted) {
  Run run{.entries = std::move(sorted), .fences = {}};
  run.fences.reserve(run.entries.size() / kBlock + 1);
  for (std::size_t i = 0; i < run.entries.size(); i += kBlock) {
    run.fences.push_back(run.entries[i].key);
  }
  return run;
}

/// Merges two runs and leaves out what is gone.
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
  Run run = run_of(std::move(entries));
  run.newest = newer.newest;
  return run;
}

void RangeIndex::drop_gone() {
  for (auto& [runs, tail] : parts_) {
    while (!runs.empty() && runs.front().newest < store_.begin()) runs.pop_front();
  }
}

/// The block that contains the first entry from `key` on, or that this entry stands right behind.
std::size_t RangeIndex::block_of(const Run& run, std::uint64_t key) {
  const std::span<const std::uint64_t> fences = run.fences;
  const auto* const fence = partition_of(fences, [&](std::uint64_t f) { return f < key; });
  const auto before = static_cast<std::size_t>(fence - fences.data());
  return before == 0 ? 0 : before - 1;
}

/// The entries of a run within the bounds; `block` is that of the first key. When there are more
/// than `most`, it may leave some out but returns more than `most`.
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

/// Appends the slots of those entries that the store still holds.
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
  if (bounds.first > bounds.last) return true;
  std::size_t room = most;
  const std::size_t last = part_of(bounds.last);
  for (std::size_t i = part_of(bounds.first); i <= last; ++i) {
    if (!find(parts_[i], bounds, room, slots)) return false;
  }
  return true;
}

/// Appends the events of the part that are within the bounds and takes their number from `room`.
/// False when there are more than `room`.
bool RangeIndex::find(const Part& part, const Bounds& bounds, std::size_t& room,
                      std::vector<Slot>& slots) const {
  constexpr std::size_t kGroup = 8;  // runs whose cache misses overlap
  const auto& [runs, tail] = part;
  std::array<std::size_t, kGroup> blocks{};
  for (std::size_t begin = 0; begin < runs.size(); begin += kGroup) {
    const std::size_t end = std::min(begin + kGroup, runs.size());
    for (std::size_t i = begin; i < end; ++i) {
      const std::size_t block = blocks[i - begin] = block_of(runs[i], bounds.first);
      __builtin_prefetch(runs[i].entries.data() + block * kBlock + kBlock / 2);
    }
    for (std::size_t i = begin; i < end; ++i) {
      const auto entries = within(runs[i], blocks[i - begin], bounds, room);
      if (entries.size() > room) return false;
      room -= entries.size();
      append(entries, slots);
    }
  }
  for (const Entry& entry : tail) {
    if (entry.key < bounds.first || entry.key > bounds.last) continue;
    if (room-- == 0) return false;
    append({&entry, 1}, slots);
  }
  return true;
}

std::size_t RangeIndex::bytes() const {
  std::size_t total = sizeof(*this) + parts_.capacity() * sizeof(Part);
  for (const auto& [runs, tail] : parts_) {
    total += tail.capacity() * sizeof(Entry);
    for (const Run& run : runs) {
      total += sizeof(Run) + run.entries.capacity() * sizeof(Entry) +
               run.fences.capacity() * sizeof(std::uint64_t);
    }
  }
  return total;
}

}  // namespace gorgo::history
