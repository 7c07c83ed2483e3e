#include "history/timeline.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace gorgo::history {
namespace {

constexpr std::ptrdiff_t kNear = 16;

/// The first of [first, last) for which `is_behind` holds, as it does for all after it: by halves,
/// then by counting, without a branch that would depend on what is found.
template <class IsBehind>
const Timestamp* bisect(const Timestamp* first, const Timestamp* last, IsBehind is_behind) {
  constexpr std::ptrdiff_t kCounted = 8;  // comparisons that do not wait for each other
  std::ptrdiff_t size = last - first;
  while (size > kCounted) {
    const std::ptrdiff_t half = size / 2;
    // Compilers make a branch of a choice between two places, but not of this.
    const std::ptrdiff_t is_ahead = is_behind(first[half - 1]) ? 0 : 1;
    first += half & -is_ahead;
    size -= half;
  }
  return first + std::count_if(first, first + size, [&](Timestamp t) { return !is_behind(t); });
}

/// What `bisect` finds, if it is at most `radius` from the guess; else null.
template <class IsBehind>
const Timestamp* find_near(const Timestamp* first, const Timestamp* last, const Timestamp* guess,
                           std::ptrdiff_t radius, IsBehind is_behind) {
  const Timestamp* const low = guess - first > radius ? guess - radius : first;
  const Timestamp* const high = last - guess > radius ? guess + radius : last;
  const bool is_below = low != first && is_behind(low[-1]);
  const bool is_above = high != last && !is_behind(*high);
  return is_below || is_above ? nullptr : bisect(low, high, is_behind);
}

/// Where a timestamp would stand if they were evenly spaced from the first one on. A second guess
/// goes on from the first, and is off by about the root of what that is off by. Precondition: there
/// are some.
const Timestamp* guess_of(const Timestamp* first, const Timestamp* last, Timestamp timestamp) {
  if (timestamp <= *first) return first;
  const auto size = static_cast<double>(last - first);
  const double density = size / (static_cast<double>(last[-1]) - static_cast<double>(*first));
  const Timestamp* guess = first;
  for (int step = 0; step < 2; ++step) {
    const double ahead = static_cast<double>(timestamp) - static_cast<double>(*guess);
    const double place = static_cast<double>(guess - first) + ahead * density;
    if (!(place > 0)) return first;
    if (!(place < size)) return last;
    guess = first + static_cast<std::ptrdiff_t>(place);
  }
  return guess;
}

/// The first for which `is_behind` holds. It holds from this timestamp on, or right behind it.
template <class IsBehind>
const Timestamp* find(const Timestamp* first, const Timestamp* last, Timestamp timestamp,
                      IsBehind is_behind) {
  constexpr std::ptrdiff_t kFew = 256, kWider = 16;  // among few a guess saves nothing
  if (last - first <= kFew) return bisect(first, last, is_behind);
  const Timestamp* const guess = guess_of(first, last, timestamp);
  const Timestamp* found = nullptr;
  for (auto radius = kNear; found == nullptr; radius *= kWider) {
    found = find_near(first, last, guess, radius, is_behind);
  }
  return found;
}

/// Finds what `find` above does, but looks at `near` first.
template <class IsBehind>
const Timestamp* find(const Timestamp* first, const Timestamp* last, Timestamp timestamp,
                      const Timestamp* near, IsBehind is_behind) {
  const Timestamp* const found = find_near(first, last, near, kNear, is_behind);
  return found != nullptr ? found : find(first, last, timestamp, is_behind);
}

/// Bounds of windows, which are open.
auto is_after(Timestamp timestamp) {
  return [=](Timestamp t) { return t > timestamp; };
}
auto is_not_before(Timestamp timestamp) {
  return [=](Timestamp t) { return t >= timestamp; };
}

}  // namespace

void Timeline::materialise(std::span<const std::uint32_t> attributes) {
  for (const std::uint32_t index : attributes) {
    if (index >= attributes_.size()) attributes_.resize(index + 1);
    auto& attribute = attributes_[index];
    if (attribute) continue;
    attribute = store_.make_attribute(index, begin());
    attribute->gather(store_.attribute_vector(index), {slots_.at(begin()), slots_.size()});
  }
}

void Timeline::add(std::span<const Slot> slots) {
  if (are_latest(slots)) {
    Timestamp* timestamps = timestamps_.grow(slots.size());
    for (const Slot slot : slots) *timestamps++ = store_.timestamp(slot);
    std::ranges::copy(slots, slots_.grow(slots.size()));
    for (std::uint32_t i = 0; i < attributes_.size(); ++i) {
      if (attributes_[i]) attributes_[i]->gather(store_.attribute_vector(i), slots);
    }
    return;
  }
  insert(slots);
}

/// Takes in events of which some are late.
void Timeline::insert(std::span<const Slot> slots) {
  std::vector<Slot> sorted(slots.begin(), slots.end());
  const auto timestamp_of = [&](Slot slot) { return store_.timestamp(slot); };
  std::ranges::sort(sorted, {}, [&](Slot slot) { return std::pair(timestamp_of(slot), slot); });
  // An event stands behind its equals in time, which have earlier places.
  std::vector<std::uint64_t> positions;
  positions.reserve(sorted.size());
  for (const Slot slot : sorted) positions.push_back(first_after(timestamp_of(slot)));
  timestamps_.insert(positions, [&](std::size_t i) { return timestamp_of(sorted[i]); });
  slots_.insert(positions, [&](std::size_t i) { return sorted[i]; });
  for (std::uint32_t i = 0; i < attributes_.size(); ++i) {
    if (attributes_[i]) attributes_[i]->insert(positions, store_.attribute_vector(i), sorted);
  }
}

bool Timeline::are_latest(std::span<const Slot> slots) const {
  Timestamp latest =
      begin() == end() ? std::numeric_limits<Timestamp>::min() : timestamps_[end() - 1];
  for (const Slot slot : slots) {
    const Timestamp timestamp = store_.timestamp(slot);
    if (timestamp < latest) return false;
    latest = timestamp;
  }
  return true;
}

std::uint64_t Timeline::first_after(Timestamp timestamp) const {
  if (begin() == end() || timestamps_[end() - 1] <= timestamp) return end();
  const Timestamp* const first = timestamps_.at(begin());
  const Timestamp* const last = timestamps_.at(end());
  return begin() + static_cast<std::uint64_t>(std::upper_bound(first, last, timestamp) - first);
}

void Timeline::drop_until(Timestamp timestamp) {
  const std::uint64_t position = first_after(timestamp);
  timestamps_.drop_before(position);
  slots_.drop_before(position);
  for (auto& attribute : attributes_) {
    if (attribute) attribute->drop_before(position);
  }
}

Range Timeline::window(Timestamp after, Timestamp before) const {
  if (begin() == end()) return {begin(), begin()};
  const Timestamp* const first = timestamps_.at(begin());
  const Timestamp* const last = timestamps_.at(end());
  const auto* const from = find(first, last, after, is_after(after));
  const auto* const to = find(first, last, before, from, is_not_before(before));
  return {begin() + static_cast<std::uint64_t>(from - first),
          begin() + static_cast<std::uint64_t>(std::max(from, to) - first)};
}

Range Timeline::window(Timestamp after, Timestamp before, const Range& near) const {
  if (begin() == end()) return {begin(), begin()};
  const Timestamp* const first = timestamps_.at(begin());
  const Timestamp* const last = timestamps_.at(end());
  const auto at = [&](std::uint64_t position) {
    return first + (std::clamp(position, begin(), end()) - begin());
  };
  const auto* const from = find(first, last, after, at(near.first), is_after(after));
  const auto* const to = find(first, last, before, at(near.last), is_not_before(before));
  return {begin() + static_cast<std::uint64_t>(from - first),
          begin() + static_cast<std::uint64_t>(std::max(from, to) - first)};
}

std::size_t Timeline::bytes() const {
  std::size_t total = timestamps_.bytes() + slots_.bytes();
  for (const auto& attribute : attributes_) total += attribute ? attribute->bytes() : 0;
  return total;
}

}  // namespace gorgo::history
