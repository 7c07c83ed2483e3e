#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "gorgo/action.hpp"
#include "gorgo/connection.hpp"
#include "gorgo/device.hpp"
#include "gorgo/diagnostics.hpp"
#include "gorgo/door.hpp"
#include "gorgo/event.hpp"
#include "gorgo/event_batch.hpp"
#include "gorgo/processor.hpp"
#include "gorgo/schema.hpp"
#include "gorgo/trace.hpp"

namespace gorgo {

/// How a client protects its connection and knows the server. All files are PEM.
struct TlsClientOptions {
  bool enabled = false;
  std::string ca = {};           ///< authorities to trust; empty: those of the system
  std::string certificate = {};  ///< to show to the server; empty: none
  std::string key = {};          ///< the private key of `certificate`
};

struct ClientOptions {
  std::string name = "libgorgo";          ///< for the server's log
  Duration timeout = 10'000'000'000;      ///< for connecting and for each reply, nanoseconds
  Duration reply_timeout = 0;             ///< the same, but for the greeting; 0: `timeout`
  std::uint64_t producer = 0;             ///< 0: a random one. Identifies repeated publications
  std::size_t max_undelivered = 100'000;  ///< deliveries kept for `next`; beyond, see `next`
  std::size_t max_frame = std::size_t{16} << 20;  ///< bytes of a delivery or a reply
  TlsClientOptions tls = {};
  /// Agrees with the server that both sides show that they live, so that each notices when the
  /// connection brings nothing any more. The client does its part while a call runs: call `next` at
  /// least as often as the server's `limits.heartbeat_ms` and `limits.heartbeat_timeout_ms` allow.
  bool heartbeats = false;
  /// Who the client is, where the server asks: a token, or a user and its password. They are sent
  /// under TLS or to this machine only; anywhere else `connect` is an error.
  std::string token = {};
  std::string user = {};
  std::string password = {};
};

/// When `publish` returns.
enum class Acknowledge : std::uint8_t {
  /// When the server has accepted or refused every event, and the accepted ones are as safe as its
  /// `journal.durability` says.
  by_default,
  accepted,   ///< when the server has accepted or refused every event, whatever its default
  none,       ///< when the events are written to the connection
  processed,  ///< when every accepted event is evaluated and its composites are on their way
  durable,    ///< when every accepted event survives a crash; the server needs a journal
};

struct PublishOptions {
  Acknowledge acknowledge = Acknowledge::by_default;
  /// Set it to repeat a publication that may not have arrived: to the number that it was given then
  /// (`Published::sequence`). Unset: the next number; with a `ClientOptions::producer` the first
  /// publication has to name one, above those of earlier runs of the program.
  std::optional<std::uint64_t> sequence;
};

struct Refusal {
  std::size_t index = 0;  ///< into the published events
  std::string reason;
  std::string hint;
};

struct Published {
  std::uint64_t accepted = 0;  ///< events that have a place; their composites will be delivered
  std::uint64_t refused = 0;
  std::uint64_t duplicates = 0;   ///< events of batches that the server had applied before
  std::uint64_t sequence = 0;     ///< of the first batch that carried the events
  std::vector<Refusal> refusals;  ///< of the first refused events of each batch
};

/// What becomes of a subscriber who does not take what comes for it.
enum class SlowPolicy : std::uint8_t {
  server_default,  ///< what the server's configuration says
  disconnect,
  drop,   ///< the oldest deliveries are dropped; `Delivery::lost_before` tells which
  block,  ///< publishers wait for it, for a time that the server limits; then it is disconnected
};

struct SubscribeOptions {
  SlowPolicy slow = SlowPolicy::server_default;
  /// Set: so many events, or bytes of deliveries, come until `allow` asks for more.
  std::optional<std::uint64_t> credit_events = {};
  std::optional<std::uint64_t> credit_bytes = {};
  /// The name of a durable subscription, which begins when it is first used, goes on behind what
  /// was acknowledged last, and is taken over from another connection that has it. Empty: the
  /// subscription ends with the connection.
  std::string durable = {};
};

struct Subscribed {
  std::uint32_t subscription = 0;
  Diagnostics diagnostics;  ///< failed: nothing was subscribed
};

/// Events that did not come, and where they stood.
struct Lost {
  std::uint64_t events = 0;
  Place first, last;  ///< they mean nothing where no event was lost
};

/// An event as a subscriber gets it.
struct Delivery {
  std::uint32_t subscription = 0;
  Place place;
  Event event;
  Lost lost_before = {};  ///< of all subscriptions of the client, since the delivery before
};

/// A number about the server's engine and its rules together.
struct Statistic {
  std::string name;
  std::uint64_t value = 0;
  bool gauge = false;  ///< it may fall; else it counts since the server started
  std::string label;   ///< what the number is one of several for, such as "reason"; may be empty
  std::string label_value;
};

/// How many values fell into each of several buckets.
struct Histogram {
  std::vector<std::uint64_t> bounds;  ///< the greatest value of each bucket, ascending
  std::vector<std::uint64_t> counts;  ///< for each bound
};

/// Events in columns, as they came in one frame. Copies share the memory.
struct DeliveredBatch {
  EventBatch events;        ///< refers into `memory`
  std::uint32_t first = 0;  ///< events before this one were returned already
  std::span<const std::uint64_t> roots;
  std::span<const std::uint32_t> ordinals;
  std::span<const std::uint16_t>
      from;  ///< per event, into `subscriptions`; empty: all of the first
  std::vector<std::uint32_t> subscriptions;
  std::shared_ptr<const std::vector<std::uint8_t>> memory;

  Place place(std::uint32_t event) const { return {roots[event], ordinals[event]}; }
  std::uint32_t subscription(std::uint32_t event) const {
    return subscriptions[from.empty() ? 0 : from[event]];
  }
};

/// A change of rules that a server remembers.
struct RuleChange {
  std::uint64_t number = 0;  ///< counts all changes that the server remembers
  Timestamp time = 0;        ///< by the server's clock
  std::string who;           ///< the user; empty: the server asked nobody who he is
  std::string name;          ///< of the deployment, or of the rule that was removed
  std::string text;          ///< that was deployed; empty: the rule was removed
  bool file = false;         ///< it is a rule file of the server's
};

/// Rules that run beside those in force, and how what they give differs from what those give that
/// they would replace.
struct ShadowInfo {
  /// How many composites both have given, and only the one or the other.
  struct Counts {
    std::uint64_t both = 0, only_deployed = 0, only_shadow = 0;
  };

  std::string name;                   ///< of the deployment
  std::string who;                    ///< the user; empty: the server asked nobody who he is
  Timestamp since = 0;                ///< by the server's clock
  std::vector<std::string> rules;     ///< that it has
  std::vector<std::string> replaced;  ///< rules in force that it is compared with
  std::uint64_t events = 0;           ///< that its rules were given
  std::uint64_t refused = 0;          ///< events that do not fit the types which its rules know
  bool filling = false;   ///< its windows are not full yet, so that differences tell little
  Timestamp full_at = 0;  ///< when they are, by the timestamps of events; 0: no event has come
  Counts counts;          ///< so far, or since they are full
  Counts before;          ///< until they were full
  std::vector<std::string> deployed_samples;  ///< that only these have given, as event lines
  std::vector<std::string> shadow_samples;
  std::string stopped;  ///< why it has ended; empty: it has not
};

/// One connection to a Gorgo server, for questions about rules, types and the server, and for
/// programs that handle the end of a connection themselves. `Publisher` (gorgo/publisher.hpp) and
/// `Subscription` (gorgo/subscription.hpp) get theirs back by themselves.
///
/// Calls block until the reply is there, the timeout of the options has passed, or the connection
/// is lost. Deliveries that arrive meanwhile are kept for `next`. After a lost connection or a
/// timeout every call returns an error that says so; connect anew.
///
/// Thread-safety: one thread at a time; use a client per thread. Everything returned is owned by
/// the caller.
class Client {
 public:
  /// `address` is "HOST:PORT".
  static Result<Client> connect(const std::string& address, ClientOptions options = {});
  ~Client();
  Client(Client&&) noexcept;
  Client& operator=(Client&&) noexcept;

  Result<void> declare(const std::string& type, const std::vector<AttributeType>& attributes);

  /// Publishes events in their order. They travel in as many batches as the server's limits ask
  /// for; refused events do not hold up the others. With an explicit `sequence` the events must
  /// fit in one batch.
  Result<Published> publish(std::span<const Event> events, const PublishOptions& options = {});
  /// Publishes the events of a batch in their order. A batch within the server's limits travels as
  /// it is. Each vector of a table must be as long as `EventColumn` says.
  Result<Published> publish(const EventBatch& batch, const PublishOptions& options = {});
  /// Moves the server's clock to the timestamp, behind everything published here before, so that
  /// timers and deadlines fire. Refused when too far ahead.
  Result<void> tick(Timestamp timestamp);
  /// What the server has said so far about publications with `Acknowledge::none`. Only refusals are
  /// counted, and their indexes count within their batches.
  const Published& unacknowledged() const;

  /// `text` is a type and conditions: `Fire`, `Fire(measuredTemp > 50)`, `*`. Every later event
  /// that satisfies them is delivered once per subscription, in place order.
  Result<Subscribed> subscribe(const std::string& text, const SubscribeOptions& options = {});
  /// Lets a subscription that began with credit deliver so much more.
  Result<void> allow(std::uint32_t subscription, std::uint64_t events, std::uint64_t bytes = 0);
  Result<void> unsubscribe(std::uint32_t subscription);
  /// The durable subscription need not get again what was delivered up to this place. Returns once
  /// that survives a crash.
  Result<void> acknowledge(const std::string& durable, const Place& place);
  /// The next delivery; nothing when none arrives in `timeout` nanoseconds. While more than
  /// `max_undelivered` wait, the client reads no further, and the server will take it for slow.
  /// Other members read on until their reply has come, and keep the deliveries before it.
  Result<std::optional<Delivery>> next(Duration timeout);
  /// How many deliveries the server dropped because this client was slow, where it is set up to do
  /// so.
  std::uint64_t lost() const;
  /// Whether the server has said that it is about to stop. It still serves for a while, so that the
  /// caller can connect elsewhere first. Known as far as `next` or a request has read.
  bool is_leaving() const;

  /// Deploys a rule text as a whole or not at all. `name` stands in the diagnostics and its stem
  /// names unnamed rules. Failed diagnostics: nothing was deployed.
  Result<Diagnostics> deploy(const std::string& name, const std::string& text,
                             const DeployOptions& options = {});
  /// Removes a rule by its full name; where there is none, all rules of the deployment of that
  /// name.
  Result<void> remove(const std::string& rule);
  /// Removes all rules of a deployment, also where a rule has its name.
  Result<void> remove_deployment(const std::string& name);
  /// Runs the rules beside those in force that they would replace, until it is promoted or dropped
  /// or the server ends. What they give reaches nobody.
  Result<Diagnostics> deploy_shadow(const std::string& name, const std::string& text);
  Result<std::vector<ShadowInfo>> shadows();
  /// Puts its rules in force in the place of those that it replaces.
  Result<Diagnostics> promote_shadow(const std::string& name, bool with_history = false);
  Result<void> drop_shadow(const std::string& name);
  /// Has the rule evaluated by this engine; with `kAutomatic`, where it costs least.
  Result<void> pin(const std::string& rule, const std::string& engine);
  /// All deployed rules in their order, without their texts.
  Result<std::vector<RuleInfo>> rules();
  /// The latest changes of rules, in their order: of a deployment or rule, or of all.
  Result<std::vector<RuleChange>> rule_history(const std::string& name = {});
  /// One rule with its text.
  Result<RuleInfo> rule(const std::string& name);
  /// The types that rules read, by name.
  Result<std::vector<TypeInfo>> types();
  /// Asks for a sign of life and returns how long it took, in nanoseconds. It passes by what the
  /// server's engine has to do.
  Result<Duration> ping();
  /// The server's numbers (docs/server.md).
  Result<std::vector<Statistic>> statistics();
  /// How long each accepted event took, since the server started, from its arrival until its
  /// composites stood in the queues of the subscribers; in nanoseconds.
  Result<Histogram> latency();
  /// The devices that the server's rules have asked for.
  Result<std::vector<DeviceInfo>> devices();
  /// The open connections of the server, or, `closed`, those that ended last, the latest last. For
  /// administrators.
  Result<std::vector<ClientConnection>> connections(bool closed = false);
  /// The doors of the server, by name. For administrators.
  Result<std::vector<Door>> doors();
  /// Opens a door, or opens it anew with other keys. `text`: what stands below `[doors.NAME]` in a
  /// configuration. The diagnostics are warnings. Doors and these two are for administrators.
  Result<Diagnostics> declare_door(const std::string& name, const std::string& text);
  /// Closes a door that was declared, and has the server forget how far it has come.
  Result<void> remove_door(const std::string& name);
  /// The targets of actions, by name. For administrators, as those below.
  Result<std::vector<ActionTarget>> actions();
  /// Has a target send an event that says it is a test.
  Result<void> test_action(const std::string& target);
  /// Has a target send again what was given up, as far as the server remembers it. Returns how many
  /// events that are.
  Result<std::uint64_t> retry_action(const std::string& target);
  /// Has a target do nothing about some events for a while. Returns the silence's id.
  Result<std::uint64_t> silence_action(const std::string& target, const ActionSilence& silence);
  Result<void> end_silence(const std::string& target, std::uint64_t id);
  /// Ends the connection of this number, which is told so. For administrators.
  Result<void> disconnect(std::uint64_t connection);
  /// Why a rule fired or did not at its terminators, at most 100 of them, as far as the server
  /// remembers events. Changes of rules wait meanwhile.
  Result<Why> why(const std::string& rule, const WhyOptions& options = {});
  /// Publishes one event and follows it through the server. A refused event is an error.
  Result<Trace> trace(const Event& event);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
  explicit Client(std::unique_ptr<Impl> impl);
};

}  // namespace gorgo
