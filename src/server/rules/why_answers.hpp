#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>

#include "gorgo/processor.hpp"
#include "server/command.hpp"
#include "server/options.hpp"
#include "server/rules/rule_checker.hpp"

namespace gorgo::server {

/// Answers questions why, one at a time: gathers the events in pieces on the engine thread, and has
/// another thread find the answer. Belongs to the engine thread unless it says otherwise.
class WhyAnswers {
 public:
  WhyAnswers(Processor& processor, RuleChecker& checker, const Limits& limits)
      : processor_(processor), checker_(checker), limits_(limits) {}

  /// False: there is no such rule, which the client was told. Precondition: nothing is pending.
  bool begin(Outbox& client, std::uint64_t id, const wire::AskWhy& request);
  /// Whether something is to be gathered.
  bool is_gathering() const { return inquiry_ != nullptr; }
  /// Gathers until then. Returns whether all is there. Precondition: nothing is pending.
  bool gather(std::chrono::steady_clock::time_point until) {
    return processor_.gather(inquiry_, until);
  }
  /// Has the checker's thread find the answer. Precondition: all is gathered.
  void find();
  /// Precondition: the checker is done.
  void tell(Outbox& client, std::uint64_t id);
  /// Forgets the question in hand. Precondition: the checker is not busy.
  void forget();
  /// Gives up the answer in hand and those to come. Any thread.
  void stop() noexcept { is_stopped_ = true; }

 private:
  Processor& processor_;
  RuleChecker& checker_;
  const Limits limits_;
  WhyInquiry inquiry_;              // for which something is to be gathered; null: none
  std::optional<Result<Why>> why_;  // what the checker's thread has found
  std::atomic<bool> is_stopped_ = false;
};

}  // namespace gorgo::server
