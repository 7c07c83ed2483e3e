#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "actions/pace.hpp"
#include "actions/settings.hpp"
#include "actions/target.hpp"
#include "actions/target_state.hpp"
#include "server/actions/action_report.hpp"
#include "server/actions/inhibitions.hpp"
#include "server/actions/order_groups.hpp"
#include "server/actions/outstanding.hpp"
#include "server/doors/engine_link.hpp"
#include "server/log.hpp"

namespace gorgo::server {

/// What all targets are given.
struct ActionParts {
  EngineLink::Parts link;
  Log& log;
  Inhibitions& inhibitions;
  bool has_journal;  ///< what waits survives the server
};

/// Carries out the actions of one target, on a thread of its own. It subscribes to the composites
/// of the rules that execute it; with a journal the subscription is durable, and is what holds
/// events until their action was carried out. `start` once; the others from any thread.
class ActionRunner {
 public:
  /// `id` and the number behind it are no session's.
  /// `saved`: what `saved` has told before.
  ActionRunner(const ActionParts& parts, std::uint64_t id, std::string name,
               actions::Settings settings, const std::string& saved);
  ~ActionRunner();
  ActionRunner(const ActionRunner&) = delete;
  ActionRunner& operator=(const ActionRunner&) = delete;

  void start();
  /// Has the thread end. What is not done comes again.
  void stop();
  /// Has the thread end once each order that waits was tried once more.
  void finish() { link_.finish(); }
  void join();

  /// Sends an event that says it is a test.
  void test();
  /// Sends again what was given up. Returns how many events that are.
  std::size_t retry();
  /// Does nothing about some events for a while. Returns the silence's id. An error: it is none.
  Result<std::uint64_t> silence(ActionSilence silence);
  /// False: there is no silence of this id.
  bool end_silence(std::uint64_t id);
  /// What the target is to know again.
  std::string saved() const;

  const actions::Settings& settings() const { return settings_; }
  ActionTarget info() const;

 private:
  using Time = actions::Time;
  using State = OutstandingOrder::State;

  const ActionParts parts_;
  const std::string name_;
  const actions::Settings settings_;
  const std::string durable_;
  ActionReport report_;

  mutable std::mutex mutex_;  // guards what follows
  std::shared_ptr<actions::Target> target_;
  std::vector<actions::Order> ordered_;  // by operators
  actions::TargetState state_;
  bool is_state_new_ = false;  // the journal does not have it as it is

  // What follows belongs to the thread.
  Outstanding outstanding_;
  actions::CircuitBreaker breaker_;
  actions::RateLimit rate_;
  OrderGroups groups_;
  std::minstd_rand random_{std::random_device{}()};
  std::vector<OrderPlace> dying_;  // whose dead letters are being published
  std::uint64_t last_number_ = 0;
  std::uint64_t burial_ = 0;   // the number of the publication that has these letters
  std::uint64_t saving_ = 0;   // that of the last one that has the state
  Time next_save_ = {};        // when the state may be written again
  std::optional<Place> done_;  // to be acknowledged
  Time next_acknowledgement_ = {}, next_look_ = {};

  EngineLink link_;
  /// For dead letters and the state, so that what is said of them does not stand behind deliveries
  /// that have to wait.
  EngineLink letters_;
  std::thread thread_;

  void subscribe();
  void run();
  void work();
  bool open();
  /// `at_once`: however short the last look was ago.
  void take_news(bool at_once);
  void take(const OutFrame& frame);
  void take_reply(const wire::Message& message);
  /// Takes what the engine says of dead letters and the state.
  void take_fates();
  void take_fate(const wire::Message& reply);
  void take(const ClientDelivery& delivery);
  void take_ordered();
  OutstandingOrder outstanding(actions::Order order) const;
  /// Decides what becomes of an event that has come.
  void admit(const OrderPlace& place, Time now);
  /// Tries what is due. Returns how much that was.
  std::size_t attempt_due();
  std::vector<OrderPlace> due(Time now);
  void settle(const OrderPlace& tried, const actions::Outcome& outcome, Time now);
  void give_up_late(Time now);
  void give_up(OutstandingOrder& order, std::string problem);
  /// Publishes what was given up, together with the state, from which it may be tried again.
  void publish_dead_letters();
  /// Has the journal keep the state, where that is new. `at_once`: however much was written before.
  void save_state(bool at_once);
  /// The state for a publication that is about to leave; empty: nobody would keep it.
  std::string state_to_keep();
  /// The order was done. If it was one of those that were given up, it is not any more.
  void forget_dead(const OrderPlace& done);
  /// Says now and then how far everything is done.
  void acknowledge(Time now);
  /// When something is to be done that nobody rings for.
  Time next_due(Time now);
};

}  // namespace gorgo::server
