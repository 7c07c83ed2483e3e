#include "engine/cuda/device_context.hpp"

#include <algorithm>
#include <utility>

#include "engine/cuda/mirror.hpp"

namespace gorgo::engine {

DeviceContext::DeviceContext(std::unique_ptr<gpu::Device> device)
    : device_(std::move(device)),
      pages_(*device_),
      workers_(std::max(1U, device_->channels() - 1)) {}

DeviceContext::~DeviceContext() = default;

std::shared_ptr<Mirror> DeviceContext::mirror(const history::EventStore& store,
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

bool DeviceContext::mirrors(const history::Timeline& timeline) {
  const std::lock_guard lock(mutex_);
  return mirrors_.contains(&timeline);
}

void DeviceContext::forget(const Mirror& mirror) {
  const auto known = mirrors_.find(&mirror.timeline());
  if (known != mirrors_.end() && known->second == &mirror) mirrors_.erase(known);
}

void DeviceContext::fail(const gpu::DeviceError& error, const std::string& during) {
  pages_.forget_orders();
  for (const auto& [timeline, mirror] : mirrors_) mirror->evict();
  const std::lock_guard lock(problem_mutex_);
  failure_ = *failures_.insert(std::string("the device failed: ") + error.what()).first;
  last_failure_ = {last_failure_.count + 1, error.what(), during};
  if (error.is_final()) problem_ = error.what();
}

std::string_view DeviceContext::failure() const {
  const std::lock_guard lock(problem_mutex_);
  return failure_;
}

DeviceContext::Failure DeviceContext::last_failure() const {
  const std::lock_guard lock(problem_mutex_);
  return last_failure_;
}

std::string DeviceContext::problem() const {
  const std::lock_guard lock(problem_mutex_);
  return problem_;
}

}  // namespace gorgo::engine
