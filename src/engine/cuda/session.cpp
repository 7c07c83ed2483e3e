#include "engine/cuda/session.hpp"

#include <algorithm>
#include <utility>

#include "engine/cuda/mirror.hpp"

namespace gorgo::engine {

Session::Session(std::unique_ptr<gpu::Device> device)
    : device_(std::move(device)),
      frames_(device_->pages()),
      free_(device_->pages()),
      workers_(std::max(1U, device_->channels() - 1)) {
  for (std::uint32_t i = 0; i < free_.size(); ++i) free_[i] = device_->pages() - 1 - i;
}

Session::~Session() = default;

std::shared_ptr<Mirror> Session::mirror(const history::EventStore& store,
                                        std::shared_ptr<const history::Timeline> timeline) {
  const auto known = mirrors_.find(timeline.get());
  if (known != mirrors_.end()) {
    if (auto shared = known->second->weak_from_this().lock()) return shared;
  }
  const auto* key = timeline.get();
  auto made = std::make_shared<Mirror>(shared_from_this(), store, std::move(timeline));
  mirrors_[key] = made.get();
  return made;
}

bool Session::mirrors(const history::Timeline& timeline) {
  const std::lock_guard lock(mutex_);
  return mirrors_.contains(&timeline);
}

void Session::begin_round() {
  begin_round_beside();
  end_rounds_before(round_);
}

void Session::begin_round_beside() {
  ++round_;
  awaited_ = 0;
}

/// Frames that no round is at work on and that are needed after that step, if at all.
std::vector<Session::Victim> Session::victims(std::uint64_t needed_after) {
  ++counters_.looks;
  std::vector<Victim> victims;
  for (std::uint32_t i = 0; i < frames_.size(); ++i) {
    const Frame& frame = frames_[i];
    if (frame.owner == nullptr || frame.used_in >= staying_) continue;
    const std::uint64_t needed_in = frame.owner->needed_in(frame.page);
    if (needed_in > needed_after) victims.push_back({needed_in, frame.used_in, i});
  }
  return victims;
}

void Session::evict(std::size_t count, std::vector<Victim> among) {
  const auto goes_before = [](const Victim& a, const Victim& b) {
    if (a.needed_in != b.needed_in) return a.needed_in > b.needed_in;
    return a.used_in != b.used_in ? a.used_in < b.used_in : a.frame < b.frame;
  };
  const auto last = among.begin() + static_cast<std::ptrdiff_t>(count);
  if (last != among.end()) std::nth_element(among.begin(), last, among.end(), goes_before);
  for (const Victim& victim : std::span(among).first(count)) {
    const Frame& frame = frames_[victim.frame];
    frame.owner->evict(frame.vector, frame.page);
  }
  counters_.swapped_out += count;
}

void Session::make_room(std::size_t frames) {
  if (make_room_beyond(0, frames)) return;
  throw gpu::DeviceError("the device's memory budget is too small for a batch", false);
}

bool Session::make_room_beyond(std::uint64_t step, std::size_t frames) {
  if (free_.size() >= frames) return true;
  auto among = victims(step);
  const std::size_t missing = frames - free_.size();
  if (among.size() < missing) return false;
  evict(missing, std::move(among));
  return true;
}

std::size_t Session::make_room_until(std::uint64_t step, std::size_t frames) {
  if (free_.size() >= frames) return frames;
  auto among = victims(step);
  const std::size_t possible = std::min(frames - free_.size(), among.size());
  evict(possible, std::move(among));
  return std::min(frames, free_.size());
}

std::uint32_t Session::take_frame(Mirror& mirror, std::uint32_t vector, std::uint64_t page) {
  const std::uint32_t number = free_.back();
  free_.pop_back();
  Frame& frame = frames_[number];
  frame.owner = &mirror;
  frame.vector = vector;
  frame.page = page;
  frame.used_in = 0;
  return number;
}

void Session::free_frame(std::uint32_t frame) {
  frames_[frame].owner = nullptr;
  free_.push_back(frame);
}

bool Session::use(std::uint32_t number) {
  Frame& frame = frames_[number];
  if (frame.used_in == round_) return false;
  frame.used_in = round_;
  // A fetch that an earlier owner ordered may still be under way.
  awaited_ = std::max(awaited_, frame.fetch);
  return true;
}

void Session::order(std::uint32_t frame, const std::uint64_t* from) {
  ordered_.push_back({frame, from});
  frames_[frame].fetch = fetches_ + 1;
  if (frames_[frame].used_in == round_) awaited_ = frames_[frame].fetch;
}

void Session::fetch() {
  if (ordered_.empty()) return;
  const auto ordered = std::exchange(ordered_, {});
  fetches_ = device_->fetch(ordered);
}

std::uint64_t* Session::take_pinned() {
  if (pinned_.empty()) {
    const std::size_t words = std::size_t{1} << device_->page_shift();
    // Allocations are few, and none holds a batch up for long: a MiB takes a millisecond.
    const std::size_t pages = std::max<std::size_t>(1, (std::size_t{1} << 19) / words);
    std::uint64_t* const first = device_->pin(words * pages);
    for (std::size_t i = pages; i > 0; --i) pinned_.push_back(first + (i - 1) * words);
  }
  std::uint64_t* const page = pinned_.back();
  pinned_.pop_back();
  return page;
}

void Session::fail(const gpu::DeviceError& error, const std::string& during) {
  ++counters_.failures;
  ordered_.clear();
  for (const auto& [timeline, mirror] : mirrors_) mirror->evict();
  const std::lock_guard lock(problem_mutex_);
  failure_ = *failures_.insert(std::string("the device failed: ") + error.what()).first;
  last_failure_ = {last_failure_.count + 1, error.what(), during};
  if (error.is_final()) problem_ = error.what();
}

std::string_view Session::failure() const {
  const std::lock_guard lock(problem_mutex_);
  return failure_;
}

Session::Failure Session::last_failure() const {
  const std::lock_guard lock(problem_mutex_);
  return last_failure_;
}

std::string Session::problem() const {
  const std::lock_guard lock(problem_mutex_);
  return problem_;
}

}  // namespace gorgo::engine
