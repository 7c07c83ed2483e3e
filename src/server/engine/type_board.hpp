#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <utility>

#include "gorgo/schema.hpp"

namespace gorgo::server {

/// The event types as they were after the last change of rules and types. The engine thread posts
/// them; any thread reads them.
class TypeBoard {
 public:
  using Types = std::shared_ptr<const Schema>;

  /// Does nothing when these types are there already.
  void post(const Schema& schema) {
    if (schema.version() == version_) return;
    auto types = std::make_shared<const Schema>(schema);
    version_ = schema.version();
    const std::lock_guard lock(mutex_);
    types_.swap(types);
  }
  /// Never null.
  Types types() const {
    const std::lock_guard lock(mutex_);
    return types_;
  }

 private:
  std::uint64_t version_ = Schema().version();  // for the engine thread

  mutable std::mutex mutex_;  // guards all below; no other lock is taken while it is held
  Types types_ = std::make_shared<const Schema>();
};

}  // namespace gorgo::server
