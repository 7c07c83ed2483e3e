#include "engine/cuda/session.hpp"

#include <algorithm>
#include <utility>

#include "engine/cuda/mirror.hpp"

namespace gorgo::engine {

Session::Session(std::unique_ptr<cuda::Device> device) : device_(std::move(device)) {
  free_pages_.resize(device_->pages());
  for (std::uint32_t i = 0; i < free_pages_.size(); ++i) {
    free_pages_[i] = device_->pages() - 1 - i;
  }
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

std::uint32_t Session::allocate_page() {
  while (free_pages_.empty()) {
    Mirror* oldest = nullptr;
    for (const auto& [timeline, mirror] : mirrors_) {
      if (mirror->used_in() == round_ || !mirror->holds_pages()) continue;
      if (oldest == nullptr || mirror->used_in() < oldest->used_in()) oldest = mirror;
    }
    if (oldest == nullptr) {
      throw cuda::DeviceError("the device's memory budget is too small for a batch", false);
    }
    oldest->evict();
    ++counters_.evictions;
  }
  const std::uint32_t page = free_pages_.back();
  free_pages_.pop_back();
  return page;
}

void Session::fail(const cuda::DeviceError& error) {
  ++counters_.failures;
  for (const auto& [timeline, mirror] : mirrors_) mirror->evict();
  const std::lock_guard lock(problem_mutex_);
  failure_ = *failures_.insert(std::string("the device failed: ") + error.what()).first;
  if (error.is_final()) problem_ = error.what();
}

std::string_view Session::failure() const {
  const std::lock_guard lock(problem_mutex_);
  return failure_;
}

std::string Session::problem() const {
  const std::lock_guard lock(problem_mutex_);
  return problem_;
}

}  // namespace gorgo::engine
