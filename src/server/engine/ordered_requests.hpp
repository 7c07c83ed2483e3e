#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>

#include "server/command_queue.hpp"
#include "server/rules/rule_book.hpp"
#include "server/rules/rule_checker.hpp"
#include "server/rules/rule_reload.hpp"
#include "server/rules/rule_requests.hpp"
#include "server/rules/why_answers.hpp"

namespace gorgo::server {

/// Has requests that change rules or types, and questions why, carried out one after the other, in
/// the order in which they came. Another thread checks their texts and finds the answers, and what
/// takes long on the engine thread is done in pieces. Meanwhile everything else goes on. Belongs to
/// the engine thread.
class OrderedRequests {
 public:
  struct Parts {
    RuleBook& book;
    RuleRequests& rules;
    RuleReload& reload;
    WhyAnswers& why;
    RuleChecker& checker;
    CommandQueue& queue;
    std::function<void()> process;  ///< evaluates what is pending
    /// Carries out a request whose text is checked.
    std::function<void(Command&)> carry_out;
    /// False: the action failed, and the request was given up.
    std::function<bool(const Command&, const std::function<void()>& action)> attempt;
  };
  explicit OrderedRequests(Parts parts) : parts_(std::move(parts)) {}

  /// Takes a request, a reload included, and begins with it when its turn comes.
  void add(Command command);
  /// Goes on, until another thread has to do its part first.
  void work_off();
  /// Carries out the request that has begun, and refuses those behind it. Precondition: the queue
  /// is closed.
  void finish();
  /// Changes of rules and types that were not carried out because their client had gone. Any
  /// thread.
  std::uint64_t dropped() const { return dropped_.load(std::memory_order_relaxed); }

 private:
  const Parts parts_;
  std::deque<Command> requests_;  // the checker may have the first one's text
  std::atomic<std::uint64_t> dropped_ = 0;

  /// Goes on with the request. Returns whether it is over; else another thread works for it, or
  /// there is more to do once others had their turn. A request that has not begun is dropped when
  /// its client has gone, and refused when the server ends, because checking many large texts would
  /// hold up the end for long.
  bool go_on(Command& command);
  /// Goes on with a change of rules or types. Returns as `go_on` does.
  bool change(Command& command);
  /// Removes some of the rules that the request removes. Returns as `go_on` does.
  bool remove_some(const Command& command);
  /// Goes on with the reload. Returns as `go_on` does. When the server ends, the reload ends with
  /// the file in hand.
  bool reload(const Command& command);
  /// Goes on with the answer. Returns as `go_on` does.
  bool explain(const Command& command);
  void refuse(const Command& command);
  void forget_first();
  /// Does some of what can be done for the rules before they are in force, and sees to it that this
  /// goes on. Returns whether nothing of it is left. Null: there is nothing to do.
  bool get_ready(const PreparedRules& rules);
  /// When a piece of such work should end.
  std::chrono::steady_clock::time_point end_of_piece() const;
};

}  // namespace gorgo::server
