#include "server/rule_checker.hpp"

#include <boost/asio/post.hpp>
#include <cassert>
#include <utility>

namespace gorgo::server {

void RuleChecker::begin(RuleSnapshot snapshot, std::string name, std::string text,
                        const DeployOptions& options) {
  assert(!is_busy());
  std::packaged_task<PreparedRules()> check([this, snapshot = std::move(snapshot),
                                             name = std::move(name), text = std::move(text),
                                             options]() mutable {
    if (before_) before_();
    // Nobody shares rules and types with it any more when they change.
    return prepare_rules(std::exchange(snapshot, nullptr), std::move(name), std::move(text),
                         options);
  });
  checked_ = check.get_future();
  boost::asio::post(thread_, [this, check = std::move(check)]() mutable {
    check();
    after_();
  });
}

bool RuleChecker::is_done() const {
  return checked_.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
}

}  // namespace gorgo::server
