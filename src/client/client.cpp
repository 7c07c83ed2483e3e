#include "gorgo/client.hpp"

#include <algorithm>
#include <chrono>
#include <random>
#include <utility>

#include "client/connection.hpp"
#include "client/deliveries.hpp"
#include "client/publication.hpp"
#include "client/replies.hpp"
#include "protocol/info.hpp"

namespace gorgo {
namespace {

std::uint64_t random_producer() {
  std::random_device random;
  return (std::uint64_t{random()} << 32 | random()) | 1;
}

const wire::Message& message_in(const protocol::Bytes& frame) {
  return **protocol::open_frame(frame);  // verified on arrival
}

/// For requests whose only good answer is an Ack.
Result<void> expect_ack(const Result<protocol::Bytes>& reply) {
  if (!reply) return reply.error();
  const auto& message = message_in(*reply);
  if (message.body_type() == wire::Body::Ack) return {};
  return client::unexpected(message);
}

/// For requests whose only good answer is Diagnostics.
Result<Diagnostics> expect_diagnostics(const Result<protocol::Bytes>& reply) {
  if (!reply) return reply.error();
  const auto* diagnostics = message_in(*reply).body_as_Diagnostics();
  if (diagnostics == nullptr) return client::unexpected(message_in(*reply));
  return client::to_diagnostics(*diagnostics);
}

/// One call of `publish`.
struct Publication {
  const PublishOptions& options;
  std::size_t events;     ///< of all pieces
  std::size_t first = 0;  ///< that was not sent yet
  Published published = {};
  std::vector<client::Piece> sent = {};  ///< whose acknowledgements are due

  bool acknowledged() const { return options.acknowledge != Acknowledge::none; }
};

}  // namespace

struct Client::Impl final : client::ConnectionOwner {
  explicit Impl(const ClientOptions& options)
      : connection(std::make_shared<client::Connection>(io, options, *this)),
        most_undelivered(options.max_undelivered),
        producer(options.producer != 0 ? options.producer : random_producer()) {}
  ~Impl() { connection->close(); }

  boost::asio::io_context io{1};
  std::shared_ptr<client::Connection> connection;
  const std::size_t most_undelivered;
  client::Deliveries deliveries;
  std::uint64_t lost = 0;
  Lost lost_before;  // the next delivery
  Published unacknowledged;
  std::uint64_t producer;
  std::uint64_t sequence = 0;
  std::uint32_t subscriptions = 0;

  bool has_room() const override { return deliveries.events() <= most_undelivered; }
  void take(DeliveredBatch batch, const Lost& lost_now) override;
  void take_reply(const wire::Message& reply) override;

  /// Sends a batch in as many pieces as it takes.
  Result<void> send(const EventBatch& batch, Publication& publication);
  Result<void> send_piece(client::Piece piece, Publication& publication);
  Result<void> take_ack(const client::Piece& piece, Published& published);
  /// Takes the acknowledgements of what was sent, and says what became of the publication.
  Result<Published> settle(Publication& publication, const Result<void>& wrote);
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

void Client::Impl::take_reply(const wire::Message& reply) {
  constexpr std::size_t kKept = 1000;
  std::vector<Refusal> refusals;
  if (const auto* ack = reply.body_as_Ack()) {
    unacknowledged.refused += ack->refused();
    refusals = client::to_refusals(*ack, 0);
  } else if (const auto* error = reply.body_as_Error()) {
    const Error refusal = client::to_error(*error);
    refusals.push_back({0, refusal.message, refusal.hint});
  }
  for (Refusal& refusal : refusals) {
    if (unacknowledged.refusals.size() < kKept) {
      unacknowledged.refusals.push_back(std::move(refusal));
    }
  }
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
  return expect_ack(impl_->connection->request(declare));
}

Result<void> Client::Impl::send(const EventBatch& batch, Publication& publication) {
  if (batch.events() == 0) return {};
  wire::PublishT header;
  header.producer = producer;
  header.sequence = publication.options.sequence.value_or(sequence + 1);
  header.ack = client::mode_of(publication.options.acknowledge);
  auto piece = client::encode_piece(batch, publication.first, connection->limits(), header,
                                    connection->next_id());
  if (!piece) return piece.error();
  if (publication.options.sequence && (!*piece || (*piece)->count != publication.events)) {
    return Error{"a publication with an explicit sequence number does not fit in one batch",
                 "publish fewer events at once"};
  }
  if (!*piece) {
    for (BatchBuilder& half : client::halves_of(batch)) {
      if (auto sent = send(half.batch(), publication); !sent) return sent;
    }
    return {};
  }
  if (publication.first == 0) publication.published.sequence = header.sequence;
  sequence = std::max(sequence, header.sequence);
  return send_piece(std::move(**piece), publication);
}

Result<void> Client::Impl::send_piece(client::Piece piece, Publication& publication) {
  const bool acknowledged = publication.acknowledged();
  if (auto done = connection->send(piece.id, std::move(piece.frame), acknowledged); !done)
    return done;
  publication.first += piece.count;
  piece.frame = {};
  if (acknowledged) publication.sent.push_back(std::move(piece));
  return {};
}

Result<void> Client::Impl::take_ack(const client::Piece& piece, Published& published) {
  const auto reply = connection->reply(piece.id);
  if (!reply) return reply.error();
  const auto* ack = message_in(*reply).body_as_Ack();
  if (ack == nullptr) return client::unexpected(message_in(*reply));
  published.accepted += ack->accepted();
  published.refused += ack->refused();
  if (ack->duplicate()) published.duplicates += piece.count;
  for (auto& refusal : client::to_refusals(*ack, piece.first)) {
    published.refusals.push_back(std::move(refusal));
  }
  return {};
}

Result<Published> Client::Impl::settle(Publication& publication, const Result<void>& wrote) {
  for (const client::Piece& piece : publication.sent) {
    if (auto taken = take_ack(piece, publication.published); !taken) return taken.error();
  }
  if (!wrote) return wrote.error();
  return std::move(publication.published);
}

Result<Published> Client::publish(std::span<const Event> events, const PublishOptions& options) {
  Publication publication{.options = options, .events = events.size()};
  Result<void> wrote;
  while (wrote && !events.empty()) {
    wrote = impl_->send(client::collect(events, impl_->connection->limits()).batch(), publication);
  }
  return impl_->settle(publication, wrote);
}

Result<Published> Client::publish(const EventBatch& batch, const PublishOptions& options) {
  Publication publication{.options = options, .events = batch.events()};
  return impl_->settle(publication, impl_->send(batch, publication));
}

Result<void> Client::tick(Timestamp timestamp) {
  wire::TickT tick;
  tick.timestamp = timestamp;
  return expect_ack(impl_->connection->request(tick));
}

const Published& Client::unacknowledged() const { return impl_->unacknowledged; }

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
  const auto& message = message_in(*reply);
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
  return expect_ack(impl_->connection->request(unsubscribe));
}

Result<void> Client::acknowledge(const std::string& durable, const Place& place) {
  wire::AcknowledgeT acknowledge;
  acknowledge.durable = durable;
  acknowledge.root = place.root;
  acknowledge.ordinal = place.ordinal;
  return expect_ack(impl_->connection->request(acknowledge));
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
  return expect_diagnostics(impl_->connection->request(deploy));
}

Result<Diagnostics> Client::deploy_shadow(const std::string& name, const std::string& text) {
  wire::DeployT deploy;
  deploy.name = name;
  deploy.text = text;
  deploy.shadow = true;
  return expect_diagnostics(impl_->connection->request(deploy));
}

Result<std::vector<ShadowInfo>> Client::shadows() {
  const auto reply = impl_->connection->request(wire::ListShadowsT());
  if (!reply) return reply.error();
  const auto* shadows = message_in(*reply).body_as_Shadows();
  if (shadows == nullptr) return client::unexpected(message_in(*reply));
  return {std::in_place, client::to_shadows(*shadows)};
}

Result<Diagnostics> Client::promote_shadow(const std::string& name, bool with_history) {
  wire::PromoteShadowT promote;
  promote.name = name;
  promote.with_history = with_history;
  return expect_diagnostics(impl_->connection->request(promote));
}

Result<void> Client::drop_shadow(const std::string& name) {
  wire::DropShadowT drop;
  drop.name = name;
  return expect_ack(impl_->connection->request(drop));
}

Result<void> Client::remove(const std::string& rule) {
  wire::RemoveT remove;
  remove.rule = rule;
  return expect_ack(impl_->connection->request(remove));
}

Result<void> Client::pin(const std::string& rule, const std::string& engine) {
  wire::PinT pin;
  pin.rule = rule;
  pin.engine = engine;
  return expect_ack(impl_->connection->request(pin));
}

Result<std::vector<RuleChange>> Client::rule_history(const std::string& name) {
  std::vector<RuleChange> changes;
  while (true) {
    wire::AskHistoryT ask;
    ask.name = name;
    ask.after = changes.empty() ? 0 : changes.back().number;
    const auto reply = impl_->connection->request(ask);
    if (!reply) return reply.error();
    const auto* page = message_in(*reply).body_as_History();
    if (page == nullptr) return client::unexpected(message_in(*reply));
    if (page->list() != nullptr) {
      for (const auto* entry : *page->list()) {
        changes.push_back({.number = entry->number(),
                           .time = entry->clock(),
                           .who = protocol::text_of(entry->who()),
                           .name = entry->name()->str(),
                           .text = protocol::text_of(entry->text()),
                           .file = entry->file()});
      }
    }
    if (!page->more()) return {std::in_place, std::move(changes)};
  }
}

Result<std::vector<RuleInfo>> Client::rules() {
  std::vector<RuleInfo> rules;
  while (true) {
    wire::ListRulesT list;
    list.first = static_cast<std::uint32_t>(rules.size());
    const auto reply = impl_->connection->request(list);
    if (!reply) return reply.error();
    const auto* page = message_in(*reply).body_as_Rules();
    if (page == nullptr) return client::unexpected(message_in(*reply));
    const std::size_t before = rules.size();
    if (page->rules() != nullptr) {
      for (const auto* rule : *page->rules()) rules.push_back(protocol::to_rule(*rule));
    }
    if (rules.size() >= page->total() || rules.size() == before) return rules;
  }
}

Result<std::vector<TypeInfo>> Client::types() {
  std::vector<TypeInfo> types;
  while (true) {
    wire::ListTypesT list;
    list.first = static_cast<std::uint32_t>(types.size());
    const auto reply = impl_->connection->request(list);
    if (!reply) return reply.error();
    const auto* page = message_in(*reply).body_as_Types();
    if (page == nullptr) return client::unexpected(message_in(*reply));
    const std::size_t before = types.size();
    if (page->types() != nullptr) {
      for (const auto* type : *page->types()) types.push_back(protocol::to_type(*type));
    }
    if (types.size() >= page->total() || types.size() == before) return types;
  }
}

Result<Duration> Client::ping() {
  const auto start = client::Clock::now();
  const auto reply = impl_->connection->request(wire::PingT());
  if (!reply) return reply.error();
  if (message_in(*reply).body_as_Pong() == nullptr) return client::unexpected(message_in(*reply));
  return Duration{std::chrono::nanoseconds(client::Clock::now() - start).count()};
}

Result<std::vector<Statistic>> Client::statistics() {
  const auto reply = impl_->connection->request(wire::AskStatisticsT());
  if (!reply) return reply.error();
  const auto* found = message_in(*reply).body_as_Statistics();
  if (found == nullptr) return client::unexpected(message_in(*reply));
  std::vector<Statistic> statistics;
  if (found->list() == nullptr) return statistics;
  for (const auto* one : *found->list()) {
    statistics.push_back({one->name()->str(), one->value(), one->gauge(),
                          client::text_of(one->label()), client::text_of(one->label_value())});
  }
  return statistics;
}

Result<Histogram> Client::latency() {
  const auto reply = impl_->connection->request(wire::AskStatisticsT());
  if (!reply) return reply.error();
  const auto* found = message_in(*reply).body_as_Statistics();
  if (found == nullptr) return client::unexpected(message_in(*reply));
  return client::to_histogram(*found, "latency");
}

Result<std::vector<DeviceInfo>> Client::devices() {
  const auto reply = impl_->connection->request(wire::ListDevicesT());
  if (!reply) return reply.error();
  const auto* list = message_in(*reply).body_as_Devices();
  if (list == nullptr) return client::unexpected(message_in(*reply));
  std::vector<DeviceInfo> devices;
  if (list->devices() != nullptr) {
    for (const auto* device : *list->devices()) devices.push_back(client::to_device(*device));
  }
  return devices;
}

Result<std::vector<ClientConnection>> Client::connections(bool closed) {
  std::vector<ClientConnection> connections;
  while (true) {
    wire::ListConnectionsT list;
    list.closed = closed;
    list.first = static_cast<std::uint32_t>(connections.size());
    const auto reply = impl_->connection->request(list);
    if (!reply) return reply.error();
    const auto* page = message_in(*reply).body_as_Connections();
    if (page == nullptr) return client::unexpected(message_in(*reply));
    const std::size_t before = connections.size();
    if (page->connections() != nullptr) {
      for (const auto* one : *page->connections()) {
        connections.push_back(client::to_connection(*one));
      }
    }
    if (connections.size() >= page->total() || connections.size() == before) return connections;
  }
}

Result<std::vector<Door>> Client::doors() {
  const auto reply = impl_->connection->request(wire::ListDoorsT());
  if (!reply) return reply.error();
  const auto* list = message_in(*reply).body_as_Doors();
  if (list == nullptr) return client::unexpected(message_in(*reply));
  std::vector<Door> doors;
  if (list->list() == nullptr) return doors;
  for (const auto* door : *list->list()) doors.push_back(client::to_door(*door));
  return doors;
}

Result<void> Client::disconnect(std::uint64_t connection) {
  wire::DisconnectT request;
  request.connection = connection;
  return expect_ack(impl_->connection->request(request));
}

Result<Why> Client::why(const std::string& rule, const WhyOptions& options) {
  wire::AskWhyT ask;
  ask.rule = rule;
  ask.last = static_cast<std::uint32_t>(std::min<std::size_t>(options.last, UINT32_MAX));
  if (options.at) ask.at = *options.at;
  const auto reply = impl_->connection->request(ask);
  if (!reply) return reply.error();
  const auto* why = message_in(*reply).body_as_Why();
  if (why == nullptr) return client::unexpected(message_in(*reply));
  return client::to_why(*why);
}

Result<Trace> Client::trace(const Event& event) {
  const std::uint64_t id = impl_->connection->next_id();
  const auto start = std::chrono::steady_clock::now();
  if (auto sent = impl_->connection->send(id, client::encode_trace(event, id), true); !sent) {
    return sent.error();
  }
  const auto reply = impl_->connection->reply(id);
  if (!reply) return reply.error();
  const auto* traced = message_in(*reply).body_as_Traced();
  if (traced == nullptr) return client::unexpected(message_in(*reply));
  Trace trace = client::to_trace(*traced);
  trace.round_trip = std::chrono::nanoseconds(std::chrono::steady_clock::now() - start).count();
  return trace;
}

Result<RuleInfo> Client::rule(const std::string& name) {
  wire::ListRulesT list;
  list.name = name;
  const auto reply = impl_->connection->request(list);
  if (!reply) return reply.error();
  const auto* page = message_in(*reply).body_as_Rules();
  if (page == nullptr || page->rules() == nullptr || page->rules()->size() != 1) {
    return client::unexpected(message_in(*reply));
  }
  return protocol::to_rule(*page->rules()->Get(0));
}

}  // namespace gorgo
