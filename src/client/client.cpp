#include "gorgo/client.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "client/asking.hpp"
#include "client/connection.hpp"
#include "client/deliveries.hpp"
#include "client/publication.hpp"
#include "client/publications.hpp"
#include "client/replies.hpp"
#include "protocol/info.hpp"

namespace gorgo {
namespace {

RuleChange to_change(const wire::HistoryEntry& entry) {
  return {.number = entry.number(),
          .time = entry.clock(),
          .who = protocol::text_of(entry.who()),
          .name = entry.name()->str(),
          .text = protocol::text_of(entry.text()),
          .file = entry.file()};
}

Statistic to_statistic(const wire::Statistic& one) {
  return {one.name()->str(), one.value(), one.gauge(), client::text_of(one.label()),
          client::text_of(one.label_value())};
}

}  // namespace

struct Client::Impl final : client::ConnectionOwner {
  explicit Impl(const ClientOptions& options)
      : connection(std::make_shared<client::Connection>(io, options, *this)),
        publications(*connection, options.producer),
        most_undelivered(options.max_undelivered) {}
  ~Impl() { connection->close(); }

  boost::asio::io_context io{1};
  std::shared_ptr<client::Connection> connection;
  client::Publications publications;
  const std::size_t most_undelivered;
  client::Deliveries deliveries;
  std::uint64_t lost = 0;
  Lost lost_before;  // the next delivery
  std::uint32_t subscriptions = 0;

  bool has_room() const override { return deliveries.events() <= most_undelivered; }
  void take(DeliveredBatch batch, const Lost& lost_now) override;
  void take_reply(const wire::Message& reply) override { publications.take_reply(reply); }
  /// How many events the order is about, or the id of a silence.
  Result<std::uint64_t> order(const std::string& target, wire::ActionOrder order,
                              std::unique_ptr<wire::SilenceT> silence = nullptr);
};

void Client::Impl::take(DeliveredBatch batch, const Lost& lost_now) {
  if (lost_now.events > 0) {
    lost += lost_now.events;
    if (lost_before.events == 0) lost_before.first = lost_now.first;
    lost_before.events += lost_now.events;
    lost_before.last = lost_now.last;
  }
  if (batch.events.events() > 0) deliveries.add(std::move(batch), std::exchange(lost_before, {}));
}

Result<Client> Client::connect(const std::string& address, ClientOptions options) {
  auto impl = std::make_unique<Impl>(options);
  const auto opened = client::run(impl->io, impl->connection->open(address));
  if (!opened) return opened.error();
  return Client(std::move(impl));
}

Client::Client(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Client::~Client() = default;
Client::Client(Client&&) noexcept = default;
Client& Client::operator=(Client&&) noexcept = default;

Result<void> Client::declare(const std::string& type,
                             const std::vector<AttributeType>& attributes) {
  wire::DeclareT declare;
  declare.name = type;
  for (const AttributeType& a : attributes) {
    auto attribute = std::make_unique<wire::AttributeTypeT>();
    attribute->name = a.name;
    attribute->type = static_cast<wire::ValueType>(a.type);
    declare.attributes.push_back(std::move(attribute));
  }
  return client::request(*impl_->connection, declare);
}

Result<Published> Client::publish(std::span<const Event> events, const PublishOptions& options) {
  return impl_->publications.publish(events, options);
}
Result<Published> Client::publish(const EventBatch& batch, const PublishOptions& options) {
  return impl_->publications.publish(batch, options);
}
const Published& Client::unacknowledged() const { return impl_->publications.unacknowledged(); }

Result<void> Client::tick(Timestamp timestamp) {
  wire::TickT tick;
  tick.timestamp = timestamp;
  return client::request(*impl_->connection, tick);
}

Result<Subscribed> Client::subscribe(const std::string& text, const SubscribeOptions& options) {
  wire::SubscribeT subscribe;
  subscribe.subscription = impl_->subscriptions + 1;
  subscribe.text = text;
  subscribe.slow = static_cast<wire::SlowPolicy>(options.slow);
  if (options.credit_events) subscribe.credit_rows = *options.credit_events;
  if (options.credit_bytes) subscribe.credit_bytes = *options.credit_bytes;
  if (!options.durable.empty()) subscribe.durable = options.durable;
  const auto reply = impl_->connection->request(subscribe);
  if (!reply) return reply.error();
  const auto& message = client::message_in(*reply);
  Subscribed subscribed{subscribe.subscription, {}};
  if (const auto* diagnostics = message.body_as_Diagnostics()) {
    subscribed.diagnostics = client::to_diagnostics(*diagnostics);
  } else if (message.body_type() != wire::Body::Ack) {
    return client::unexpected(message);
  }
  if (!subscribed.diagnostics.failed()) ++impl_->subscriptions;
  return subscribed;
}

Result<void> Client::allow(std::uint32_t subscription, std::uint64_t events, std::uint64_t bytes) {
  wire::CreditT credit;
  credit.subscription = subscription;
  credit.rows = events;
  credit.bytes = bytes;
  const std::uint64_t id = impl_->connection->next_id();
  return impl_->connection->send(id, protocol::encode(id, credit), false);
}

Result<void> Client::unsubscribe(std::uint32_t subscription) {
  wire::UnsubscribeT unsubscribe;
  unsubscribe.subscription = subscription;
  return client::request(*impl_->connection, unsubscribe);
}

Result<void> Client::acknowledge(const std::string& durable, const Place& place) {
  wire::AcknowledgeT acknowledge;
  acknowledge.durable = durable;
  acknowledge.root = place.root;
  acknowledge.ordinal = place.ordinal;
  return client::request(*impl_->connection, acknowledge);
}

Result<std::optional<Delivery>> Client::next(Duration timeout) {
  client::Connection& connection = *impl_->connection;
  const auto there = [this] { return impl_->deliveries.events() > 0; };
  if (connection.run_until(client::after(timeout), there)) {
    return std::optional(impl_->deliveries.take_event());
  }
  if (connection.broken()) return *connection.broken();
  return std::optional<Delivery>();
}

bool Client::is_leaving() const { return impl_->connection->is_leaving(); }
std::uint64_t Client::lost() const { return impl_->lost; }

Result<Diagnostics> Client::deploy(const std::string& name, const std::string& text,
                                   const DeployOptions& options) {
  wire::DeployT deploy;
  deploy.name = name;
  deploy.text = text;
  deploy.replace = options.replace;
  deploy.with_history = options.with_history;
  return client::ask<wire::Diagnostics>(*impl_->connection, deploy, client::to_diagnostics);
}

Result<Diagnostics> Client::deploy_shadow(const std::string& name, const std::string& text) {
  wire::DeployT deploy;
  deploy.name = name;
  deploy.text = text;
  deploy.shadow = true;
  return client::ask<wire::Diagnostics>(*impl_->connection, deploy, client::to_diagnostics);
}

Result<std::vector<ShadowInfo>> Client::shadows() {
  return client::ask<wire::Shadows>(*impl_->connection, wire::ListShadowsT(), client::to_shadows);
}

Result<Diagnostics> Client::promote_shadow(const std::string& name, bool with_history) {
  wire::PromoteShadowT promote;
  promote.name = name;
  promote.with_history = with_history;
  return client::ask<wire::Diagnostics>(*impl_->connection, promote, client::to_diagnostics);
}

Result<void> Client::drop_shadow(const std::string& name) {
  wire::DropShadowT drop;
  drop.name = name;
  return client::request(*impl_->connection, drop);
}

Result<void> Client::remove(const std::string& rule) {
  wire::RemoveT remove;
  remove.rule = rule;
  return client::request(*impl_->connection, remove);
}

Result<void> Client::remove_deployment(const std::string& name) {
  wire::RemoveT remove;
  remove.rule = name;
  remove.deployment = true;
  return client::request(*impl_->connection, remove);
}

Result<void> Client::pin(const std::string& rule, const std::string& engine) {
  wire::PinT pin;
  pin.rule = rule;
  pin.engine = engine;
  return client::request(*impl_->connection, pin);
}

Result<std::vector<RuleChange>> Client::rule_history(const std::string& name) {
  std::vector<RuleChange> changes;
  const auto read = [&](const wire::History& page) {
    for (RuleChange& change : client::converted(page.list(), to_change)) {
      changes.push_back(std::move(change));
    }
    return page.more();
  };
  while (true) {
    wire::AskHistoryT question;
    question.name = name;
    question.after = changes.empty() ? 0 : changes.back().number;
    const auto more = client::ask<wire::History>(*impl_->connection, question, read);
    if (!more) return more.error();
    if (!*more) return {std::in_place, std::move(changes)};
  }
}

Result<std::vector<RuleInfo>> Client::rules() {
  return client::ask_pages<wire::Rules>(
      *impl_->connection, wire::ListRulesT(), [](const auto& page) { return page.rules(); },
      protocol::to_rule);
}

Result<RuleInfo> Client::rule(const std::string& name) {
  wire::ListRulesT list;
  list.name = name;
  const auto reply = impl_->connection->request(list);
  if (!reply) return reply.error();
  const auto& message = client::message_in(*reply);
  const auto* page = message.body_as_Rules();
  if (page == nullptr || page->rules() == nullptr || page->rules()->size() != 1) {
    return client::unexpected(message);
  }
  return protocol::to_rule(*page->rules()->Get(0));
}

Result<std::vector<TypeInfo>> Client::types() {
  return client::ask_pages<wire::Types>(
      *impl_->connection, wire::ListTypesT(), [](const auto& page) { return page.types(); },
      protocol::to_type);
}

Result<Duration> Client::ping() {
  const auto start = client::Clock::now();
  return client::ask<wire::Pong>(*impl_->connection, wire::PingT(), [&](const wire::Pong&) {
    return Duration{std::chrono::nanoseconds(client::Clock::now() - start).count()};
  });
}

Result<std::vector<Statistic>> Client::statistics() {
  return client::ask<wire::Statistics>(
      *impl_->connection, wire::AskStatisticsT(),
      [](const wire::Statistics& found) { return client::converted(found.list(), to_statistic); });
}

Result<Histogram> Client::latency() {
  return client::ask<wire::Statistics>(
      *impl_->connection, wire::AskStatisticsT(),
      [](const wire::Statistics& found) { return client::to_histogram(found, "latency"); });
}

Result<std::vector<DeviceInfo>> Client::devices() {
  return client::ask<wire::Devices>(*impl_->connection, wire::ListDevicesT(),
                                    [](const wire::Devices& list) {
                                      return client::converted(list.devices(), client::to_device);
                                    });
}

Result<std::vector<ClientConnection>> Client::connections(bool closed) {
  wire::ListConnectionsT list;
  list.closed = closed;
  return client::ask_pages<wire::Connections>(
      *impl_->connection, list, [](const auto& page) { return page.connections(); },
      client::to_connection);
}

Result<std::vector<Door>> Client::doors() {
  return client::ask<wire::Doors>(
      *impl_->connection, wire::ListDoorsT(),
      [](const wire::Doors& list) { return client::converted(list.list(), client::to_door); });
}

Result<Diagnostics> Client::declare_door(const std::string& name, const std::string& text) {
  wire::DeclareDoorT declare;
  declare.name = name;
  declare.text = text;
  return client::ask<wire::Diagnostics>(*impl_->connection, declare, client::to_diagnostics);
}

Result<void> Client::remove_door(const std::string& name) {
  wire::RemoveDoorT remove;
  remove.name = name;
  return client::request(*impl_->connection, remove);
}

Result<std::vector<ActionTarget>> Client::actions() {
  return client::ask<wire::Actions>(
      *impl_->connection, wire::ListActionsT(),
      [](const wire::Actions& list) { return client::converted(list.list(), client::to_action); });
}

Result<std::uint64_t> Client::Impl::order(const std::string& target, wire::ActionOrder order,
                                          std::unique_ptr<wire::SilenceT> silence) {
  wire::OrderActionT request;
  request.name = target;
  request.order = order;
  request.silence = std::move(silence);
  return client::ask<wire::Ack>(
      *connection, request, [](const wire::Ack& ack) -> std::uint64_t { return ack.accepted(); });
}

Result<void> Client::test_action(const std::string& target) {
  const auto sent = impl_->order(target, wire::ActionOrder::Test);
  return sent ? Result<void>() : sent.error();
}

Result<std::uint64_t> Client::retry_action(const std::string& target) {
  return impl_->order(target, wire::ActionOrder::Retry);
}

Result<std::uint64_t> Client::silence_action(const std::string& target,
                                             const ActionSilence& silence) {
  auto asked = std::make_unique<wire::SilenceT>();
  asked->matchers = silence.matchers;
  asked->until = silence.until;
  asked->comment = silence.comment;
  return impl_->order(target, wire::ActionOrder::Silence, std::move(asked));
}

Result<void> Client::end_silence(const std::string& target, std::uint64_t id) {
  auto asked = std::make_unique<wire::SilenceT>();
  asked->id = id;
  const auto ended = impl_->order(target, wire::ActionOrder::Unsilence, std::move(asked));
  return ended ? Result<void>() : ended.error();
}

Result<void> Client::disconnect(std::uint64_t connection) {
  wire::DisconnectT request;
  request.connection = connection;
  return client::request(*impl_->connection, request);
}

Result<Why> Client::why(const std::string& rule, const WhyOptions& options) {
  wire::AskWhyT question;
  question.rule = rule;
  question.last = static_cast<std::uint32_t>(std::min<std::size_t>(options.last, UINT32_MAX));
  if (options.at) question.at = *options.at;
  return client::ask<wire::Why>(*impl_->connection, question, client::to_why);
}

Result<Trace> Client::trace(const Event& event) {
  const std::uint64_t id = impl_->connection->next_id();
  const auto start = std::chrono::steady_clock::now();
  if (auto sent = impl_->connection->send(id, client::encode_trace(event, id), true); !sent) {
    return sent.error();
  }
  auto trace = client::read_as<wire::Traced>(impl_->connection->reply(id), client::to_trace);
  if (!trace) return trace;
  trace->round_trip = std::chrono::nanoseconds(std::chrono::steady_clock::now() - start).count();
  return trace;
}

}  // namespace gorgo
