#include "server/rules/rule_checker.hpp"

#include <boost/asio/post.hpp>
#include <cassert>
#include <utility>

namespace gorgo::server {

void RuleChecker::begin(Check check) {
  assert(!is_busy());
  std::packaged_task<void()> task([this, check = std::move(check)] {
    if (before_) before_();
    check();
  });
  checked_ = task.get_future();
  boost::asio::post(thread_, [this, task = std::move(task)]() mutable {
    task();
    after_();
  });
}

bool RuleChecker::is_done() const {
  return checked_.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
}

}  // namespace gorgo::server
