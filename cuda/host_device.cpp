#include "cuda/host_device.hpp"

#include <algorithm>
#include <cstring>

#include "cuda/negation.hpp"

namespace gorgo::gpu {

HostResources::HostResources(std::uint32_t shift, std::uint32_t count)
    : page_shift(shift),
      pages(count),
      arena(std::make_unique_for_overwrite<std::uint64_t[]>(std::size_t{pages} << page_shift)),
      shapes{finds<AnyShape>, finds<OneTest<false>>, finds<OneTest<true>>,
             finds<AnyShapeWithNegations>, finds<NoTest>},
      delta(page_shift, pages) {}

/// Does the last writes first, since nobody may rely on their order: a GPU does them in any.
void HostResources::write_delta() {
  for (auto write = delta.writes().rbegin(); write != delta.writes().rend(); ++write) {
    std::memcpy(arena.get() + write->to, staging.data() + write->from,
                write->count * sizeof(std::uint64_t));
  }
  delta.clear();
  staging.clear();
}

HostDevice::HostDevice(const DeviceOptions& options, std::uint32_t number)
    : number_(number),
      shared_(options.page_shift,
              static_cast<std::uint32_t>((options.bytes / sizeof(std::uint64_t)) >>
                                         options.page_shift)) {
  for (std::uint32_t i = 0; i < options.channels; ++i) channels_.emplace_back(shared_, i == 0);
}

void HostDevice::write(std::uint32_t page, std::uint32_t offset,
                       std::span<const std::uint64_t> words) {
  if (shared_.delta.is_full(page, offset, words.size())) shared_.write_delta();
  shared_.delta.add(page, offset, words.size());
  shared_.staging.insert(shared_.staging.end(), words.begin(), words.end());
  counters_.uploaded += words.size_bytes();
}

std::uint64_t* HostDevice::pin(std::size_t words) {
  return pinned_.emplace_back(std::make_unique_for_overwrite<std::uint64_t[]>(words)).get();
}

std::uint64_t HostDevice::fetch(std::span<const Fetch> pages) {
  const std::size_t words = std::size_t{1} << shared_.page_shift;
  for (const Fetch& page : pages) {
    if (shared_.delta.touches(page.page)) shared_.write_delta();
    std::memcpy(shared_.arena.get() + page.page * words, page.from, words * sizeof(std::uint64_t));
  }
  counters_.fetched += pages.size() * words * sizeof(std::uint64_t);
  return ++fetches_;
}

std::uint32_t HostDevice::add_shape(const std::string& text, std::uint32_t fallback) {
  const auto known = shape_numbers_.find(text);
  if (known != shape_numbers_.end()) return known->second;
  const Finds finds = compile_shape_ ? compile_shape_(text) : nullptr;
  if (finds == nullptr) return fallback;
  shared_.shapes.push_back(finds);
  return shape_numbers_[text] = static_cast<std::uint32_t>(shared_.shapes.size() - 1);
}

void HostChannel::start(const Round& round) {
  if (is_first_) shared_.write_delta();
  round_ = &round;
}

Answers HostChannel::finish() {
  const Round& round = *round_;
  view_ = {.arena = shared_.arena.get(),
           .page_shift = shared_.page_shift,
           .pages = round.pages.data(),
           .attributes = round.attributes.data(),
           .tests = round.tests.data(),
           .instructions = round.instructions.data(),
           .scans = round.scans.data(),
           .bounds = round.bounds.data(),
           .cells = round.cells.data(),
           .texts = round.texts.data(),
           .negations = round.negations.data()};
  select(round);
  list(round);
  reduce(round);
  sum(round);
  count(round);
  const bool listed_all = listed_.size() <= round.most_listed;
  if (!listed_all) listed_.clear();
  return {.oldest = oldest_,
          .newest = newest_,
          .selected = selected_,
          .every = every_,
          .listed = listed_,
          .listed_all = listed_all,
          .reductions = reductions_,
          .sums = sums_};
}

void HostChannel::select(const Round& round) {
  oldest_.clear();
  newest_.clear();
  selected_.assign(round.selected, 0);
  for (const Search& search : round.oldest) select(search, false, oldest_);
  for (const Search& search : round.newest) select(search, true, newest_);
}

void HostChannel::select(const Search& search, bool newest, std::vector<std::uint32_t>& counts) {
  std::uint32_t found = 0;
  for (std::uint64_t i = 0; i < search.last - search.first && found < search.limit; ++i) {
    const std::uint64_t position = newest ? search.last - 1 - i : search.first + i;
    if (!finds(search, position)) continue;
    selected_[search.output + found++] = static_cast<std::uint32_t>(position - search.first);
  }
  counts.push_back(found);
}

void HostChannel::list(const Round& round) {
  every_.assign(1, 0);
  listed_.clear();
  for (const Search& search : round.every) {
    for (std::uint64_t p = search.first; p < search.last; ++p) {
      if (finds(search, p)) {
        listed_.push_back(static_cast<std::uint32_t>(p - search.first));
      }
    }
    every_.push_back(listed_.size());
  }
}

void HostChannel::reduce(const Round& round) {
  reductions_.clear();
  for (const Search& search : round.reductions) {
    const Scan& scan = view_.scans[search.scan];
    Reduction total = {};
    for (std::uint64_t p = search.first; p < search.last; ++p) {
      if (finds(search, p)) {
        merge(total, reduction_of(view_, scan, p));
      }
    }
    reductions_.push_back(total);
  }
}

void HostChannel::sum(const Round& round) {
  sums_.clear();
  for (const Search& search : round.sums) {
    const Scan& scan = view_.scans[search.scan];
    const Attribute& summed = view_.attributes[scan.attributes + scan.reduced];
    FloatSum total = {};
    for (std::uint64_t p = search.first; p < search.last; ++p) {
      if (!finds(search, p)) continue;
      if (const Cell value = load(view_, summed, p); value.exists) add(total, value.bits);
    }
    sums_.push_back(total);
  }
}

}  // namespace gorgo::gpu
