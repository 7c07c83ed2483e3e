#pragma once

#include <boost/asio/thread_pool.hpp>
#include <functional>
#include <future>
#include <string>

#include "gorgo/processor.hpp"

namespace gorgo::server {

/// Checks rule texts on a thread of its own, one at a time. Used by one thread.
class RuleChecker {
 public:
  /// `before` and `after` are called on the checker's thread, around each check.
  RuleChecker(std::function<void()> before, std::function<void()> after)
      : before_(std::move(before)), after_(std::move(after)) {}
  /// Waits for the check in hand.
  ~RuleChecker() { thread_.join(); }
  RuleChecker(const RuleChecker&) = delete;
  RuleChecker& operator=(const RuleChecker&) = delete;

  /// Precondition: `!is_busy()`.
  void begin(RuleSnapshot snapshot, std::string name, std::string text,
             const DeployOptions& options);
  /// Whether a text was begun whose rules were not taken.
  bool is_busy() const { return checked_.valid(); }
  /// Whether `take` need not wait. Precondition: `is_busy()`.
  bool is_done() const;
  /// Precondition: `is_busy()`.
  void wait() const { checked_.wait(); }
  /// The checked text; waits for it. Throws what the check threw: it was out of memory.
  PreparedRules take() { return checked_.get(); }

 private:
  const std::function<void()> before_, after_;
  std::future<PreparedRules> checked_;
  boost::asio::thread_pool thread_{1};
};

}  // namespace gorgo::server
