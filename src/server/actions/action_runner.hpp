#pragma once

#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "actions/inhibitor.hpp"
#include "actions/pace.hpp"
#include "actions/settings.hpp"
#include "actions/silences.hpp"
#include "actions/target.hpp"
#include "server/actions/action_report.hpp"
#include "server/actions/order_groups.hpp"
#include "server/actions/outstanding.hpp"
#include "server/doors/engine_link.hpp"
#include "server/log.hpp"

namespace gorgo::server {

/// What all targets are given.
struct ActionParts {
  EngineLink::Parts link;
  Log& log;
  bool has_journal;  ///< what waits survives the server
};

/// Carries out the actions of one target, on a thread of its own. It subscribes to the composites
/// of the rules that execute it; with a journal the subscription is durable, and is what holds
/// events until their action was carried out. `start` once; the others from any thread.
class ActionRunner {
 public:
  /// `id` and the number behind it are no session's.
  /// `silences`: as `saved_silences` had them before.
  ActionRunner(const ActionParts& parts, std::uint64_t id, std::string name,
               actions::Settings settings, const std::string& silences);
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
  std::string saved_silences() const;

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
  std::deque<actions::Order> dead_;      // the last ones that were given up
  actions::Silences silences_;
  bool are_silences_new_ = false;  ///< the journal does not have them as they are

  // What follows belongs to the thread.
  Outstanding outstanding_;
  actions::CircuitBreaker breaker_;
  actions::RateLimit rate_;
  OrderGroups groups_;
  actions::Inhibitor inhibitor_;
  std::minstd_rand random_{std::random_device{}()};
  std::map<std::uint64_t, OrderPlace> dying_;  // by the number of the dead letter's publication
  std::uint64_t last_number_ = 0;
  std::uint64_t saving_ = 0;   // the number of the publication that has silences
  std::optional<Place> done_;  // to be acknowledged
  Time next_acknowledgement_ = {}, next_look_ = {};

  EngineLink link_;
  /// For dead letters and silences, so that what is said of them does not stand behind deliveries
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
  /// Takes what the engine says of dead letters and silences.
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
  void publish_dead_letters();
  /// Has the journal keep silences that are new, or no longer those that were.
  void save_silences();
  /// Says now and then how far everything is done.
  void acknowledge(Time now);
  /// When something is to be done that nobody rings for.
  Time next_due(Time now);
};

}  // namespace gorgo::server
