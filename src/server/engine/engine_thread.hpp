#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <thread>
#include <vector>

#include "gorgo/processor.hpp"
#include "server/actions/action_board.hpp"
#include "server/actions/inhibitions.hpp"
#include "server/command_queue.hpp"
#include "server/doors/door_calls.hpp"
#include "server/durability/decision_writer.hpp"
#include "server/durability/durable_subscriptions.hpp"
#include "server/durability/engine_clock.hpp"
#include "server/durability/journal_writer.hpp"
#include "server/durability/replay.hpp"
#include "server/durability/result_hash.hpp"
#include "server/durability/snapshots.hpp"
#include "server/engine/admission.hpp"
#include "server/engine/device_watch.hpp"
#include "server/engine/door_requests.hpp"
#include "server/engine/drop_watch.hpp"
#include "server/engine/event_trace.hpp"
#include "server/engine/fanout.hpp"
#include "server/engine/memory_watch.hpp"
#include "server/engine/ordered_requests.hpp"
#include "server/engine/pace.hpp"
#include "server/engine/rate_watch.hpp"
#include "server/engine/self_report.hpp"
#include "server/engine/subscription_requests.hpp"
#include "server/engine/type_board.hpp"
#include "server/log.hpp"
#include "server/log_limit.hpp"
#include "server/options.hpp"
#include "server/replies.hpp"
#include "server/rules/deployments.hpp"
#include "server/rules/rule_book.hpp"
#include "server/rules/rule_checker.hpp"
#include "server/rules/rule_files.hpp"
#include "server/rules/rule_latencies.hpp"
#include "server/rules/rule_listing.hpp"
#include "server/rules/rule_reload.hpp"
#include "server/rules/rule_requests.hpp"
#include "server/rules/shadows.hpp"
#include "server/rules/why_answers.hpp"
#include "server/subscriptions/subscription_counts.hpp"
#include "server/subscriptions/subscriptions.hpp"

namespace gorgo::server {

/// Owns the processor, and with it schema, history and rules: their single writer. Takes what fits
/// in a turn, appends publications until another request comes, evaluates, delivers. Each kind of
/// request has a class that carries it out.
class EngineThread {
 public:
  /// `types` gets every change of the types, `executable` says what rules may execute,
  /// `inhibitions` is told of composites, `news` tells of connections, `doors` are called when
  /// clients declare some. `on_end` is called on the thread when the closed queue is worked off.
  EngineThread(const ServerOptions& options, Log& log, CommandQueue& queue, TypeBoard& types,
               const ActionBoard& executable, Inhibitions& inhibitions, ClientTotals& totals,
               ConnectionNews& news, DoorCalls doors, std::function<void()> on_end);
  ~EngineThread();

  /// Brings back what the journal holds, if there is one. These two are to be called before
  /// `start`, in this order. They run on the caller's thread.
  Result<void> recover(StartProgress& progress);
  RuleFiles::Outcome load_rules();
  void start();
  /// Waits for the end, which `CommandQueue::close` brings about. Does nothing without `start`.
  void join();
  /// Gives up the evaluation in hand; later evaluations do nothing. Any thread.
  void request_stop() noexcept {
    why_.stop();
    processor_.request_stop();
  }

  /// How far doors have read. Precondition: not started, or on the engine thread.
  const DoorPositions& door_positions() const { return positions_; }
  /// Precondition as above.
  const DeclaredDoors& declared_doors() const { return declared_doors_; }
  /// The number of the journal that counts places; 0: there is none. Precondition as above.
  std::uint64_t journal_number() const {
    return journal_.is_on() ? journal_.journal().number() : 0;
  }

  /// For the closing log line. Precondition: not started, or joined.
  const ProcessorCounters& processed() const { return processor_.counters(); }
  /// Events that were published and not accepted, by the processor or before it. Precondition as
  /// above.
  std::uint64_t refused() const { return admission_.refused(); }
  /// Deliveries that no frame could hold. Precondition as above.
  std::uint64_t oversize() const { return subscriptions_.oversize(); }
  /// Events whose timestamps were ahead of the server's clock: accepted, and refused.
  const ClockWatch::Counts& ahead() const { return admission_.clock_watch().counts(); }
  /// Whether an evaluation failed, so that the server has to end. Precondition as above.
  bool broken() const { return broken_; }
  /// Rises as long as the thread makes progress: with each `beat` command and each batch of output.
  std::uint64_t beats() const { return beats_.load(std::memory_order_relaxed); }
  std::uint64_t shortages() const { return memory_watch_.shortages(); }
  /// Whether nothing is taken any more, because the journal has failed. Any thread.
  bool is_read_only() const { return journal_.is_read_only(); }
  /// Changes of rules and types that were not carried out because their client had gone.
  std::uint64_t dropped_changes() const { return ordered_.dropped(); }

 private:
  const Limits limits_;
  const bool paced_;  // batches, and so turns, are to be short
  Log& log_;
  CommandQueue& queue_;
  TypeBoard& types_;
  Inhibitions& inhibitions_;
  const std::function<void()> on_end_;
  EngineClock clock_;  // that stamps events
  JournalWriter journal_;
  Processor processor_;
  RuleBook book_;
  ResultHash results_;
  DecisionWriter decisions_;
  const journal::stored::SettingsT settings_;
  Subscriptions subscriptions_;
  DurableSubscriptions durables_;
  SubscriptionCounts subscription_counts_;
  Producers producers_;
  DoorPositions positions_;
  DeclaredDoors declared_doors_;
  Admission admission_;
  Deployments deployments_;
  Shadows shadows_;
  RuleLatencies latencies_;
  Fanout fanout_;
  SelfReport self_report_;
  RuleFiles rule_files_;
  DeviceWatch device_watch_;
  DropWatch drop_watch_;
  RateWatch rate_watch_;
  MemoryWatch memory_watch_;
  LogLimit oversize_log_;
  Pace pace_;
  LogHistogram turns_;  // how long they take, in nanoseconds
  Snapshots snapshots_;
  SubscriptionRequests subscription_requests_;
  DoorRequests door_requests_;
  EventTrace trace_;
  RuleListing rule_listing_;
  RuleRequests rule_requests_;
  RuleReload rule_reload_;
  WhyAnswers why_;
  OrderedRequests ordered_;
  /// Whether an evaluation ended half-way, so that the processor's state is that of no sequence of
  /// events. It is also set while an evaluation goes on.
  bool broken_ = false;
  bool tick_waits_ = false;  // the clock stands still, because the journal has no room
  std::atomic<std::uint64_t> beats_ = 0;
  RuleChecker checker_;  // its thread uses most of the above
  std::thread thread_;

  void run();
  void work(std::vector<Command>& turn);
  void process();
  /// Returns how many events were queued, counted for each client.
  std::uint64_t deliver(const OutputBatch& batch);
  /// Everything that was appended is evaluated, or held back by lateness.
  void settle();
  void beat() { beats_.fetch_add(1, std::memory_order_relaxed); }
  /// Evaluates when much is pending, even in the middle of a frame, so that released events that
  /// are not evaluated yet take no more memory.
  void process_if_many();
  Result<void> replay(StartProgress& progress);
  /// Takes the rows that were not taken when the server ended.
  void finish(Replay::Unfinished unfinished);
  void flush();
  /// Sends what waits for durable subscriptions as far as it may leave.
  void feed();
  /// Lets the processor's own clock tick when something is due by it.
  void tick();
  bool look();
  /// How long to wait for commands.
  std::chrono::nanoseconds patience() const;
  /// Handles a command. One that is not finished goes back into the queue.
  void handle(Command& command);
  void carry_out(Command& command);
  /// False: the action failed, and the request was given up.
  bool attempt(const Command& command, const std::function<void()>& action);
  /// Ends a request of the client whose handling failed: replies with an error, or closes the
  /// outbox.
  void give_up(const Command& command, Outbox& client, const Error& why);
  void on_oversize(const Outbox& client, std::size_t rows);

  /// Carries out a request, which queues its reply.
  void handle_request(Command& command);
  void publish(Command& command, std::uint64_t id, const wire::Publish& request);
  void tick(Outbox& client, std::uint64_t id, const wire::Tick& request);
  /// Whether the user may ask that, as far as the text of a subscription or the rules in force
  /// decide it.
  Result<void> check_user(const User& user, const wire::Message& message) const;
  Statistics statistics() const;
};

}  // namespace gorgo::server
