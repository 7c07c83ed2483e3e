#include "history/range_index.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>

namespace gorgo::history {
namespace {

constexpr std::size_t kTail = 512;               // scanned as a whole by every search
constexpr std::size_t kLargestMerge = 1U << 17;  // entries: some milliseconds at once

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
    if (const auto key = key_of(store_.attribute(slot, attribute_))) {
      tail_.entries.push_back({*key, slot});
      tail_.newest = slot;
    }
    if (tail_.entries.size() == kTail) close_tail();
  }
}

void RangeIndex::close_tail() {
  std::sort(tail_.entries.begin(), tail_.entries.end(),
            [](const Entry& a, const Entry& b) { return a.key < b.key; });
  runs_.push_back(std::move(tail_));
  tail_ = {};
  while (runs_.size() > 1) {
    const std::size_t last = runs_[runs_.size() - 1].entries.size();
    const std::size_t before = runs_[runs_.size() - 2].entries.size();
    if (before >= 2 * last || before + last > kLargestMerge) return;
    merge_last_two();
  }
}

void RangeIndex::merge_last_two() {
  const Run& b = runs_[runs_.size() - 1];
  const Run& a = runs_[runs_.size() - 2];
  Run merged{.entries = {}, .newest = b.newest};
  merged.entries.reserve(a.entries.size() + b.entries.size());
  std::merge(a.entries.begin(), a.entries.end(), b.entries.begin(), b.entries.end(),
             std::back_inserter(merged.entries),
             [](const Entry& x, const Entry& y) { return x.key < y.key; });
  std::erase_if(merged.entries, [&](const Entry& entry) { return entry.slot < store_.begin(); });
  runs_.pop_back();
  runs_.back() = std::move(merged);
}

void RangeIndex::drop_gone() {
  while (!runs_.empty() && runs_.front().newest < store_.begin()) runs_.pop_front();
}

std::span<const RangeIndex::Entry> RangeIndex::within(const Run& run, const Bounds& bounds) {
  const auto& entries = run.entries;
  const auto first =
      std::lower_bound(entries.begin(), entries.end(), bounds.first,
                       [](const Entry& entry, std::uint64_t key) { return entry.key < key; });
  const auto last =
      std::upper_bound(first, entries.end(), bounds.last,
                       [](std::uint64_t key, const Entry& entry) { return key < entry.key; });
  return {first, last};
}

std::size_t RangeIndex::count(const Bounds& bounds, std::size_t most) const {
  if (bounds.first > bounds.last) return 0;
  std::size_t total = 0;
  for (const Run& run : runs_) {
    total += within(run, bounds).size();
    if (total > most) return total;
  }
  for (const Entry& entry : tail_.entries) {
    total += bounds.first <= entry.key && entry.key <= bounds.last ? 1 : 0;
  }
  return total;
}

void RangeIndex::collect(const Bounds& bounds, std::vector<Slot>& slots) const {
  if (bounds.first > bounds.last) return;
  for (const Run& run : runs_) {
    for (const Entry& entry : within(run, bounds)) slots.push_back(entry.slot);
  }
  for (const Entry& entry : tail_.entries) {
    if (bounds.first <= entry.key && entry.key <= bounds.last) slots.push_back(entry.slot);
  }
}

std::size_t RangeIndex::bytes() const {
  std::size_t total = sizeof(*this) + tail_.entries.capacity() * sizeof(Entry);
  for (const Run& run : runs_) total += sizeof(Run) + run.entries.capacity() * sizeof(Entry);
  return total;
}

}  // namespace gorgo::history
