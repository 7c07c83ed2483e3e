#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "server/rules/shadow.hpp"

namespace gorgo::server {

/// The versions of rules that run beside those in force, by the names of their deployments. They
/// are in memory only: a restart drops them. Belongs to the engine thread.
class Shadows {
 public:
  static constexpr std::size_t kMost = 8;

  /// `options`: of the processor that has the rules in force.
  explicit Shadows(ProcessorOptions options) : options_(std::move(options)) {}

  /// Any thread.
  std::unique_ptr<Shadow> make(const dispatch::CheckedText& text) const {
    return std::make_unique<Shadow>(text, options_);
  }
  /// Takes the place of the one with this name. An error: there are too many.
  Result<void> put(std::unique_ptr<Shadow> shadow) {
    const std::string& name = shadow->name();
    if (shadows_.size() >= kMost && !shadows_.contains(name)) {
      return Error{"there are " + std::to_string(kMost) + " shadow deployments, which is the most",
                   "drop or promote one of them"};
    }
    shadows_[name] = std::move(shadow);
    return {};
  }
  /// Null: there is none of this name.
  const Shadow* find(const std::string& name) const {
    const auto found = shadows_.find(name);
    return found == shadows_.end() ? nullptr : found->second.get();
  }
  bool drop(const std::string& name) { return shadows_.erase(name) > 0; }

  void take(const OutputBatch& batch) {
    for (const auto& [name, shadow] : shadows_) shadow->take(batch);
  }
  void settle(std::optional<Timestamp> clock) {
    for (const auto& [name, shadow] : shadows_) shadow->settle(clock);
  }
  const std::map<std::string, std::unique_ptr<Shadow>>& all() const { return shadows_; }

 private:
  const ProcessorOptions options_;
  std::map<std::string, std::unique_ptr<Shadow>> shadows_;  // by name
};

}  // namespace gorgo::server
