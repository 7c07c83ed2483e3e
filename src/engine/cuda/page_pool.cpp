#include "engine/cuda/page_pool.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include "engine/cuda/paged_vector.hpp"

namespace gorgo::engine {

PagePool::PagePool(gpu::Device& device)
    : device_(device), frames_(device.pages()), free_(device.pages()) {
  for (std::uint32_t i = 0; i < free_.size(); ++i) free_[i] = device.pages() - 1 - i;
}

void PagePool::begin_round() {
  begin_round_beside();
  end_rounds_before(round_);
}

void PagePool::begin_round_beside() {
  ++round_;
  awaited_ = 0;
}

/// Frames that no round is at work on and that are needed after that step, if at all.
std::vector<PagePool::Victim> PagePool::victims(std::uint64_t needed_after) {
  ++counters_.victim_searches;
  std::vector<Victim> victims;
  for (std::uint32_t i = 0; i < frames_.size(); ++i) {
    const Frame& frame = frames_[i];
    if (frame.owner == nullptr || frame.used_in >= staying_) continue;
    const std::uint64_t needed_in = frame.owner->needed_in(frame.page);
    if (needed_in > needed_after) victims.push_back({needed_in, frame.used_in, i});
  }
  return victims;
}

void PagePool::evict(std::size_t count, std::vector<Victim> among) {
  const auto goes_before = [](const Victim& a, const Victim& b) {
    if (a.needed_in != b.needed_in) return a.needed_in > b.needed_in;
    return a.used_in != b.used_in ? a.used_in < b.used_in : a.frame < b.frame;
  };
  const auto last = among.begin() + static_cast<std::ptrdiff_t>(count);
  if (last != among.end()) std::nth_element(among.begin(), last, among.end(), goes_before);
  for (const Victim& victim : std::span(among).first(count)) {
    const Frame& frame = frames_[victim.frame];
    frame.owner->evict(frame.page);
  }
  counters_.swapped_out += count;
}

void PagePool::make_room(std::size_t frames) {
  if (make_room_beyond(0, frames)) return;
  throw gpu::DeviceError("the device's memory budget is too small for a batch", false);
}

bool PagePool::make_room_beyond(std::uint64_t step, std::size_t frames) {
  if (free_.size() >= frames) return true;
  auto among = victims(step);
  const std::size_t missing = frames - free_.size();
  if (among.size() < missing) return false;
  evict(missing, std::move(among));
  return true;
}

std::size_t PagePool::make_room_until(std::uint64_t step, std::size_t frames) {
  if (free_.size() >= frames) return frames;
  auto among = victims(step);
  const std::size_t possible = std::min(frames - free_.size(), among.size());
  evict(possible, std::move(among));
  return std::min(frames, free_.size());
}

std::uint32_t PagePool::take(PagedVector& owner, std::uint64_t page) {
  const std::uint32_t number = free_.back();
  free_.pop_back();
  Frame& frame = frames_[number];
  frame.owner = &owner;
  frame.page = page;
  frame.used_in = 0;
  return number;
}

void PagePool::free(std::uint32_t frame) {
  frames_[frame].owner = nullptr;
  free_.push_back(frame);
}

bool PagePool::use(std::uint32_t number) {
  Frame& frame = frames_[number];
  if (frame.used_in == round_) return false;
  frame.used_in = round_;
  // A fetch that an earlier owner ordered may still be under way.
  awaited_ = std::max(awaited_, frame.fetch);
  return true;
}

void PagePool::order(std::uint32_t frame, const std::uint64_t* from) {
  ordered_.push_back({frame, from});
  frames_[frame].fetch = fetches_ + 1;
  if (frames_[frame].used_in == round_) awaited_ = frames_[frame].fetch;
}

void PagePool::fetch() {
  if (ordered_.empty()) return;
  const auto ordered = std::exchange(ordered_, {});
  fetches_ = device_.fetch(ordered);
}

std::uint64_t* PagePool::take_pinned() {
  if (pinned_.empty()) {
    const std::size_t words = std::size_t{1} << device_.page_shift();
    // Allocations are few, and none holds a batch up for long: a MiB takes a millisecond.
    const std::size_t pages = std::max<std::size_t>(1, (std::size_t{1} << 19) / words);
    std::uint64_t* const first = device_.pin(words * pages);
    for (std::size_t i = pages; i > 0; --i) pinned_.push_back(first + (i - 1) * words);
  }
  std::uint64_t* const page = pinned_.back();
  pinned_.pop_back();
  return page;
}

}  // namespace gorgo::engine
