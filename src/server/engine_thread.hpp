#pragma once

#include <atomic>
#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "gorgo/processor.hpp"
#include "server/actions/action_board.hpp"
#include "server/actions/inhibitions.hpp"
#include "server/admission.hpp"
#include "server/command_queue.hpp"
#include "server/deployments.hpp"
#include "server/device_watch.hpp"
#include "server/doors/door_calls.hpp"
#include "server/drop_watch.hpp"
#include "server/durability/durable_subscriptions.hpp"
#include "server/durability/engine_clock.hpp"
#include "server/durability/journal_writer.hpp"
#include "server/durability/replay.hpp"
#include "server/durability/result_hash.hpp"
#include "server/durability/snapshots.hpp"
#include "server/log.hpp"
#include "server/log_limit.hpp"
#include "server/options.hpp"
#include "server/pace.hpp"
#include "server/rate_watch.hpp"
#include "server/replies.hpp"
#include "server/rule_book.hpp"
#include "server/rule_checker.hpp"
#include "server/rule_files.hpp"
#include "server/rule_latencies.hpp"
#include "server/self_report.hpp"
#include "server/shadows.hpp"
#include "server/subscription_counts.hpp"
#include "server/subscriptions.hpp"
#include "server/type_board.hpp"

namespace gorgo::server {

/// Owns the processor, and with it schema, history and rules: their single writer. Takes what fits
/// in a turn, appends publications until another request comes, evaluates, delivers.
///
/// Requests that change rules or types are carried out one after the other, in the order in which
/// they came, and their texts are checked on another thread. Meanwhile everything else goes on.
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
    stops_answers_ = true;
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
  std::uint64_t shortages() const { return shortages_.load(std::memory_order_relaxed); }
  /// Whether nothing is taken any more, because the journal has failed. Any thread.
  bool is_read_only() const { return journal_.is_read_only(); }
  /// Changes of rules and types that were not carried out because their client had gone.
  std::uint64_t dropped_changes() const { return dropped_changes_.load(std::memory_order_relaxed); }

 private:
  /// Who has asked to remove a door that is about to close.
  struct Removal {
    std::shared_ptr<Outbox> client;
    std::uint64_t id;
    std::string who;
  };

  const Limits limits_;
  const bool paced_;  // batches, and so turns, are to be short
  Log& log_;
  CommandQueue& queue_;
  TypeBoard& types_;
  const ActionBoard& executable_;
  Inhibitions& inhibitions_;
  const DoorCalls door_calls_;
  const std::function<void()> on_end_;
  EngineClock clock_;  // that stamps events
  JournalWriter journal_;
  Processor processor_;
  RuleBook book_;
  ResultHash results_;
  std::uint64_t results_written_ = 0;  // the last root of which the journal says what came of it
  const journal::stored::SettingsT settings_;
  Subscriptions subscriptions_;
  DurableSubscriptions durables_;
  SubscriptionCounts subscription_counts_;
  Producers producers_;
  DoorPositions positions_;
  DeclaredDoors declared_doors_;
  std::map<std::string, Removal> closing_doors_;
  Admission admission_;
  SelfReport self_report_;
  Deployments deployments_;
  Shadows shadows_;
  RuleFiles rule_files_;
  DeviceWatch device_watch_;
  DropWatch drop_watch_;
  RateWatch rate_watch_;
  RuleLatencies latencies_;
  LogLimit oversize_log_;
  Pace pace_;
  LogHistogram turns_;  // how long they take, in nanoseconds
  /// Whether an evaluation ended half-way, so that the processor's state is that of no sequence of
  /// events. It is also set while an evaluation goes on.
  bool broken_ = false;
  bool is_tracing_ = false;       // the event in hand is traced
  bool decides_ = false;          // about suspensions; in a replay the journal tells them
  bool tick_waits_ = false;       // the clock stands still, because the journal has no room
  bool short_of_memory_ = false;  // whether the log says so
  std::atomic<std::uint64_t> shortages_ = 0;  // times the memory reserve was given up
  std::atomic<std::uint64_t> dropped_changes_ = 0;
  std::atomic<std::uint64_t> beats_ = 0;
  Snapshots snapshots_;
  std::deque<Command> changes_;  // to be carried out; the checker may have the first one's text
  PreparedRules checked_;        // a client's text that the checker has checked
  Deployments::Names checked_names_;        // of its rules, where they are to be put in force
  std::unique_ptr<Shadow> checked_shadow_;  // that is to run it; null: none is
  bool more_files_ = false;                 // the checker has checked a rule file
  WhyInquiry inquiry_;                      // for which something is to be gathered
  std::optional<Result<Why>> why_;          // what the checker's thread has found
  std::atomic<bool> stops_answers_ = false;
  RuleChecker checker_;
  std::thread thread_;

  void run();
  void work(std::vector<Command>& turn);
  void process();
  /// Returns how many events were queued, counted for each client.
  std::uint64_t deliver(const OutputBatch& batch);
  /// Whether anybody gets published events of the type.
  bool is_wanted(std::string_view type) const;
  /// Whether a subscription takes events of the type, a durable one or that of a door included.
  bool is_subscribed(std::string_view type) const;
  /// Everything that was appended is evaluated, or held back by lateness.
  void settle();
  void beat() { beats_.fetch_add(1, std::memory_order_relaxed); }
  /// Evaluates when much is pending, even in the middle of a frame, so that released events that
  /// are not evaluated yet take no more memory.
  void process_if_many();
  Result<void> replay(StartProgress& progress);
  /// Takes the rows that were not taken when the server ended.
  void finish(Replay::Unfinished unfinished);
  /// Notes that a rule is suspended or taken up again. False: it has to stay as it is for now.
  bool note_suspension(const std::string& rule, bool suspended);
  /// Notes that a rule is suspended where it found no memory. False: it must not be.
  bool note_starvation(const Starvation& starvation);
  /// Notes what came of the events, now and then or at the end.
  void write_results(bool at_the_end);
  void flush();
  /// Lets the processor's own clock tick when something is due by it.
  void tick();
  bool look();
  /// How long to wait for commands.
  std::chrono::nanoseconds patience() const;
  /// Handles a command. One that is not finished goes back into the queue.
  void handle(Command& command);
  void carry_out(Command& command);
  /// False: the action failed, and the request was given up.
  template <class Action>
  bool attempt(const Command& command, Action action);
  /// Ends a request of the client whose handling failed: replies with an error, or closes the
  /// outbox.
  void give_up(const Command& command, Outbox& client, const Error& why);
  /// Sets the memory reserve aside again, if it was given up.
  void keep_reserve();
  void handle_request(Command& command, const wire::Message& message);
  /// Whether the user may ask that, as far as the text of a subscription or the rules in force
  /// decide it.
  Result<void> check_user(const User& user, const wire::Message& message) const;
  /// Goes on with the reload. Returns whether it is over; else a rule file is being read or
  /// checked. When the server ends, the reload ends with the file in hand.
  bool reload(const Command& command);
  void end_reload(const Command& command);
  void log_reload() const;
  /// Carries out what takes turns, until another thread has to do its part first.
  void work_off_changes();
  void forget_change();
  /// Carries out the request that has begun, and refuses those behind it.
  void finish_changes();
  /// Goes on with the change. Returns whether it is over; else its text is being checked. A change
  /// that has not begun is dropped when its client has gone, and refused when the server ends,
  /// because checking many large texts would hold up the end for long.
  bool change(Command& command);
  void refuse(const Command& change);
  /// The text of the change that was checked to put its rules in force; null: there is none.
  PreparedRules coming_rules(const Command& change) const;
  /// Does some of what can be done for the rules before they are in force, and sees to it that this
  /// goes on. Returns whether nothing of it is left.
  bool get_ready(const PreparedRules& rules);
  /// When a piece of such work should end.
  std::chrono::steady_clock::time_point end_of_piece() const;
  /// What the rule does of late.
  void add_recent(RuleInfo& rule) const;
  Statistics statistics() const;
  void on_oversize(const Outbox& client, std::size_t rows);

  // One per request; each queues its reply.
  void declare(const Command& command, std::uint64_t id, const wire::Declare& request);
  void subscribe(const Command& command, std::uint64_t id, const wire::Subscribe& request);
  void subscribe_durable(const Command& command, std::uint64_t id, const wire::Subscribe& request);
  void acknowledge(const Command& command, std::uint64_t id, const wire::Acknowledge& request);
  void end_durable(const Command& command, std::uint64_t id, const wire::EndDurable& request);
  void list_durables(const Command& command, std::uint64_t id) const;
  /// Whether the user may have this durable subscription.
  Result<void> check_owner(const UserPtr& user, const std::string& name) const;
  /// Sends what waits for durable subscriptions as far as it may leave.
  void feed();
  void unsubscribe(Outbox& client, std::uint64_t id, const wire::Unsubscribe& request);
  void grant(Outbox& client, std::uint64_t id, const wire::Credit& request);
  /// Begins the check of the text, unless none is to be checked.
  void check(const wire::Message& message);
  /// What a text is checked for.
  enum class Purpose { to_put_in_force, to_run_beside, to_tell };
  void check(std::string name, std::string text, const DeployOptions& options, Purpose purpose);
  /// The checked text; null: the client was told why there is none. Precondition: a check began.
  PreparedRules finish_check(const Command& command, std::uint64_t id);
  Result<void> may_put_in_force(const Command& command,
                                const dispatch::CheckedText& prepared) const;
  Diagnostics put_in_force(const Command& command, const PreparedRules& prepared);
  void take_out_of_force(const Command& command, const std::string& rule);
  /// Puts the checked rules in force.
  void deploy(const Command& command, std::uint64_t id, const wire::Deploy& request);
  /// The rules in force in whose place those of the text come.
  Shadow::Names rules_replaced_by(const dispatch::CheckedText& text) const;
  void run_beside(const Command& command, std::uint64_t id, const dispatch::CheckedText& text,
                  std::unique_ptr<Shadow> shadow);
  void promote(const Command& command, std::uint64_t id, const wire::PromoteShadow& request);
  void drop_shadow(const Command& command, std::uint64_t id, const wire::DropShadow& request);
  void list_shadows(const Command& command, std::uint64_t id) const;
  /// The rule that a removal is about; an error: it is about a deployment.
  Result<RuleInfo> rule_to_remove(const wire::Remove& request) const;
  void remove(const Command& command, std::uint64_t id, const wire::Remove& request);
  void pin(const Command& command, std::uint64_t id, const wire::Pin& request);
  void list(const Command& command, std::uint64_t id, const wire::ListRules& request);
  /// A page of the rules in force, or of those that the user may see, from number `from` on.
  protocol::Bytes all_rules(std::uint64_t id, std::uint32_t from) const;
  protocol::Bytes rules_of(const User& user, std::uint64_t id, std::uint32_t from) const;
  /// An error: the door is being removed, or the journal has no room.
  Result<void> make_room_for_door(const std::string& name, std::size_t bytes);
  void declare_door(const Command& command, std::uint64_t id, const wire::DeclareDoor& request);
  void remove_door(const Command& command, std::uint64_t id, const wire::RemoveDoor& request);
  /// The door is closed, and nothing of what it asked for is left.
  void end_door(const std::string& name, bool is_configured);
  void tick(Outbox& client, std::uint64_t id, const wire::Tick& request);
  void trace(const Command& command, std::uint64_t id, const wire::Trace& request);
  /// Goes on with the answer, which another thread finds. Returns whether it was given.
  bool explain(const Command& command);
  /// Begins it. False: there is no such rule, which the client was told.
  bool inquire(Outbox& client, std::uint64_t id, const wire::AskWhy& request);
  void tell_why(Outbox& client, std::uint64_t id);
};

}  // namespace gorgo::server
