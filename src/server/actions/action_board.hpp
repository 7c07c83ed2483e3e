#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace gorgo::server {

/// What rules may execute, as `webhook("ops")`. Any thread.
class ActionBoard {
 public:
  using Texts = std::shared_ptr<const std::vector<std::string>>;

  void post(std::vector<std::string> texts) {
    auto posted = std::make_shared<const std::vector<std::string>>(std::move(texts));
    const std::lock_guard lock(mutex_);
    texts_ = std::move(posted);
  }
  Texts texts() const {
    const std::lock_guard lock(mutex_);
    return texts_;
  }

 private:
  mutable std::mutex mutex_;
  Texts texts_ = std::make_shared<const std::vector<std::string>>();
};

}  // namespace gorgo::server
