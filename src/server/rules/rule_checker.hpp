#pragma once

#include <boost/asio/thread_pool.hpp>
#include <functional>
#include <future>

namespace gorgo::server {

/// Checks rule texts, and answers questions why, on a thread of its own, one at a time. Used by one
/// thread.
class RuleChecker {
 public:
  using Check = std::function<void()>;

  /// `before` and `after` are called on the checker's thread, around each check.
  RuleChecker(std::function<void()> before, std::function<void()> after)
      : before_(std::move(before)), after_(std::move(after)) {}
  /// Waits for the check in hand.
  ~RuleChecker() { thread_.join(); }
  RuleChecker(const RuleChecker&) = delete;
  RuleChecker& operator=(const RuleChecker&) = delete;

  /// What the check uses belongs to the checker's thread until `finish`. The check lets go of its
  /// snapshot as soon as it has used it: then nobody shares rules and types with the processor when
  /// they change. Precondition: `!is_busy()`.
  void begin(Check check);
  /// Whether a check was begun and not finished.
  bool is_busy() const { return checked_.valid(); }
  /// Whether `finish` need not wait. Precondition: `is_busy()`.
  bool is_done() const;
  /// Precondition: `is_busy()`.
  void wait() const { checked_.wait(); }
  /// Waits for the check and throws what it threw: it was out of memory.
  void finish() { checked_.get(); }

 private:
  const std::function<void()> before_, after_;
  std::future<void> checked_;
  boost::asio::thread_pool thread_{1};
};

}  // namespace gorgo::server
