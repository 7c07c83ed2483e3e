#include "gorgo/subscription.hpp"

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <deque>
#include <memory>
#include <utility>

#include "client/deliveries.hpp"
#include "client/link.hpp"
#include "client/replies.hpp"

namespace gorgo {

using client::after;
using client::Connection;
using client::Coroutine;

struct Subscription::Impl final : client::Link::User {
  using Notice = std::variant<Disconnected, Reconnected, Gap, Leaving, Ended>;
  /// Deliveries in a row, or a notice between them.
  using Entry = std::variant<client::Deliveries, Notice>;

  Impl(boost::asio::io_context& io, const std::string& address, std::vector<std::string> wanted,
       const StreamOptions& given)
      : texts(std::move(wanted)),
        options(given),
        link(io, address, given.client, given.longest_pause) {}

  const std::vector<std::string> texts;
  const StreamOptions options;
  client::Link link;
  std::deque<Entry> entries;
  std::vector<std::uint64_t> taken;  // events by subscription, not allowed again yet
  bool over = false;                 // nothing comes behind the entries
  std::uint64_t times_full = 0;
  Diagnostics warnings;
  bool was_up = false;  // there was a connection that all texts were subscribed on
  bool is_early =
      false;  // a further one begins, and the notice of the gap stands behind no delivery
  std::vector<std::pair<DeliveredBatch, Lost>> early;  // what has come of it meanwhile
  // These are used by durable subscriptions. A place of zeros stands before all events.
  Place seen = options.seen.value_or(Place());  // the last event that has come
  Place done;                                   // acknowledged by the program
  Place acknowledged;                           // by the server
  bool is_acknowledging = false;
  bool is_another = false;       // the server has begun it anew, which the stream does not say yet
  bool was_begun_anew = false;   // and the program may still be busy with what had come before
  std::optional<Error> refused;  // why the server takes no acknowledgement

  // What the link asks of its user.
  Coroutine<Result<void>> begin(Connection& connection) override;
  void reconnected(Duration after, std::uint64_t attempts) override;
  void disconnected(const Error& reason) override { notify(Disconnected{reason}); }
  void take(DeliveredBatch batch, const Lost& lost) override;
  void take_reply(const wire::Message& message) override;
  bool has_room() const override { return waiting_bytes() < options.receive_bytes; }

  bool is_durable() const { return !options.subscribe.durable.empty(); }
  wire::SubscribeT request(std::uint32_t text) const;
  Coroutine<Result<void>> look_for_acknowledged(Connection& connection);
  void acknowledge(const Place& place);
  Coroutine<> send_acknowledgements();
  Coroutine<> settle_acknowledgements();
  void skip_seen(DeliveredBatch& batch);
  std::size_t waiting_bytes() const;
  void notify(Notice notice);
  bool is_ready() const { return !entries.empty() || over || refused || link.ended(); }
  /// The next item. Precondition: `is_ready()`.
  template <class Either>
  Result<Either> take_next();
  void allow_again(const DeliveredBatch& batch);
  void allow_again(std::uint32_t subscription, std::uint64_t events);
  Coroutine<Result<void>> drain();
  template <class Either>
  Coroutine<Result<Either>> wait_for_next();
  template <class Either>
  Result<std::optional<Either>> next(Duration timeout);
};

/// Texts are numbered from 0, subscriptions from 1.
wire::SubscribeT Subscription::Impl::request(std::uint32_t text) const {
  wire::SubscribeT subscribe;
  subscribe.subscription = text + 1;
  subscribe.text = texts[text];
  subscribe.slow = static_cast<wire::SlowPolicy>(options.subscribe.slow);
  if (options.subscribe.credit_events) subscribe.credit_rows = *options.subscribe.credit_events;
  if (options.subscribe.credit_bytes) subscribe.credit_bytes = *options.subscribe.credit_bytes;
  subscribe.durable = options.subscribe.durable;
  return subscribe;
}

Coroutine<Result<void>> Subscription::Impl::begin(Connection& connection) {
  if (is_durable() && texts.size() != 1) {
    co_return Error{"a durable subscription has one text", "open one for each text", "Invalid"};
  }
  taken.assign(texts.size() + 1, 0);
  is_early = was_up;
  early.clear();
  if (is_durable() && was_up) {
    const auto looked = co_await look_for_acknowledged(connection);
    if (!looked) co_return looked.error();
  }
  for (std::uint32_t i = 0; i < texts.size(); ++i) {
    auto subscribe = request(i);
    const auto reply = co_await connection.ask(std::move(subscribe));
    if (!reply) co_return reply.error();
    const wire::Message& message = **protocol::open_frame(*reply);
    if (message.body_type() == wire::Body::Ack) continue;
    const auto* found = message.body_as_Diagnostics();
    if (found == nullptr) co_return client::unexpected(message);
    const Diagnostics diagnostics = client::to_diagnostics(*found);
    if (diagnostics.failed()) co_return Error{diagnostics.render(), "", "Invalid"};
    if (!was_up)
      warnings.list.insert(warnings.list.end(), diagnostics.list.begin(), diagnostics.list.end());
  }
  was_up = true;
  co_return Result<void>();
}

/// A server whose journal is another one has another subscription of this name. What has come of
/// the former one says nothing about the places of the latter.
Coroutine<Result<void>> Subscription::Impl::look_for_acknowledged(Connection& connection) {
  wire::ListDurablesT list;
  const auto reply = co_await connection.ask(std::move(list));
  if (!reply) co_return reply.error();
  const auto* durables = (*protocol::open_frame(*reply))->body_as_Durables();
  if (durables == nullptr) co_return client::unexpected(**protocol::open_frame(*reply));
  if (durables->list() != nullptr) {
    for (const auto* info : *durables->list()) {
      const Place there{info->root(), info->ordinal()};
      if (info->name()->str() == options.subscribe.durable && !(there < acknowledged)) {
        co_return Result<void>();
      }
    }
  }
  seen = done = acknowledged = {};
  is_another = was_begun_anew = true;
  co_return Result<void>();
}

void Subscription::Impl::reconnected(Duration without, std::uint64_t attempts) {
  notify(Reconnected{without, attempts});
  if (!is_durable()) notify(Gap{"the connection was lost", std::nullopt, {}, {}});
  if (std::exchange(is_another, false)) {
    notify(Gap{"the server has another journal, and has begun the durable subscription anew",
               std::nullopt,
               {},
               {}});
  }
  is_early = false;
  acknowledge(done);
  for (auto& [batch, lost] : std::exchange(early, {})) take(std::move(batch), lost);
}

void Subscription::Impl::take_reply(const wire::Message& message) {
  constexpr Duration kMillisecond = 1'000'000;
  const auto* leaving = message.body_as_Leaving();
  if (leaving != nullptr) notify(Leaving{leaving->grace_ms() * kMillisecond});
}

void Subscription::Impl::notify(Notice notice) {
  entries.emplace_back(std::move(notice));
  link.changed().notify();
}

std::size_t Subscription::Impl::waiting_bytes() const {
  std::size_t bytes = 0;
  for (const Entry& entry : entries) {
    const auto* deliveries = std::get_if<client::Deliveries>(&entry);
    if (deliveries != nullptr) bytes += deliveries->bytes();
  }
  return bytes;
}

void Subscription::Impl::take(DeliveredBatch batch, const Lost& lost) {
  if (is_early) {
    early.emplace_back(std::move(batch), lost);
    return;
  }
  if (lost.events > 0) {
    notify(Gap{is_durable() ? "the server dropped events, since more than journal.backlog_bytes "
                              "waited for this durable subscription"
                            : "the server dropped events, since this subscriber was too slow",
               lost.events, lost.first, lost.last});
  }
  if (is_durable()) skip_seen(batch);
  if (batch.first == batch.events.events()) return;
  const bool follows =
      !entries.empty() && std::holds_alternative<client::Deliveries>(entries.back());
  if (!follows) entries.emplace_back(client::Deliveries());
  std::get<client::Deliveries>(entries.back()).add(std::move(batch));
  if (!has_room()) ++times_full;
  link.changed().notify();
}

void Subscription::Impl::skip_seen(DeliveredBatch& batch) {
  const std::uint32_t events = batch.events.events();
  while (batch.first < events && !(seen < batch.place(batch.first))) ++batch.first;
  if (batch.first < events) seen = batch.place(events - 1);
}

void Subscription::Impl::acknowledge(const Place& place) {
  // What has not come of this journal is of the one before, where the place meant something else.
  if (was_begun_anew && seen < place) return;
  done = std::max(done, place);
  if (is_acknowledging || !(acknowledged < done) || !link.is_up()) return;
  is_acknowledging = true;
  const auto self = std::static_pointer_cast<Impl>(shared_from_this());
  boost::asio::co_spawn(
      link.io(), [self] { return self->send_acknowledgements(); }, boost::asio::detached);
}

/// Has one on its way at a time, which stands for all before it.
Coroutine<> Subscription::Impl::send_acknowledgements() {
  const auto self = shared_from_this();
  while (acknowledged < done && link.is_up() && !refused) {
    const Place place = done;
    wire::AcknowledgeT request;
    request.durable = options.subscribe.durable;
    request.root = place.root;
    request.ordinal = place.ordinal;
    const Connection* const connection = link.connection();
    const auto reply = co_await link.connection()->ask(std::move(request));
    if (reply) {
      acknowledged = std::max(acknowledged, place);
      continue;
    }
    // `reconnected` sends it again on a new connection.
    if (connection == link.connection() && !connection->broken()) refused = reply.error();
    break;
  }
  is_acknowledging = false;
  link.changed().notify();
}

Coroutine<> Subscription::Impl::settle_acknowledgements() {
  while (acknowledged < done && !refused && !link.ended()) {
    co_await link.changed().wait(client::Clock::time_point::max());
  }
}

void Subscription::Impl::allow_again(std::uint32_t subscription, std::uint64_t events) {
  if (!options.subscribe.credit_events || !link.is_up() || subscription >= taken.size()) return;
  taken[subscription] += events;
  if (taken[subscription] * 2 < *options.subscribe.credit_events) return;
  wire::CreditT credit;
  credit.subscription = subscription;
  credit.rows = std::exchange(taken[subscription], 0);
  credit.bytes = options.subscribe.credit_bytes.value_or(0);
  link.connection()->post(std::make_shared<const protocol::Bytes>(protocol::encode(0, credit)));
}

void Subscription::Impl::allow_again(const DeliveredBatch& batch) {
  if (!options.subscribe.credit_events) return;
  for (std::uint32_t event = batch.first; event < batch.events.events(); ++event) {
    allow_again(batch.subscription(event), 1);
  }
}

template <class Either>
Result<Either> Subscription::Impl::take_next() {
  if (entries.empty()) {
    if (over) return Either(Ended{});
    return refused ? *refused : *link.ended();
  }
  Either item = Ended{};
  bool used_up = true;
  if (auto* notice = std::get_if<Notice>(&entries.front())) {
    std::visit([&](auto& what) { item = std::move(what); }, *notice);
  } else {
    auto& deliveries = std::get<client::Deliveries>(entries.front());
    if constexpr (std::is_same_v<Either, Item>) {
      Delivery delivery = deliveries.take_event();
      allow_again(delivery.subscription, 1);
      item = std::move(delivery);
    } else {
      DeliveredBatch batch = deliveries.take_batch();
      allow_again(batch);
      item = std::move(batch);
    }
    used_up = deliveries.events() == 0;
  }
  if (used_up) entries.pop_front();
  if (link.is_up()) link.connection()->read_on();
  return item;
}

template <class Either>
Result<std::optional<Either>> Subscription::Impl::next(Duration timeout) {
  if (!link.run_until(after(timeout), [this] { return is_ready(); })) {
    return std::optional<Either>();
  }
  auto item = take_next<Either>();
  if (!item) return item.error();
  return std::optional<Either>(*std::move(item));
}

template <class Either>
Coroutine<Result<Either>> Subscription::Impl::wait_for_next() {
  const auto self = shared_from_this();
  while (!is_ready()) co_await link.changed().wait(client::Clock::time_point::max());
  co_return take_next<Either>();
}

Coroutine<Result<void>> Subscription::Impl::drain() {
  const auto self = shared_from_this();
  Result<void> drained;
  co_await settle_acknowledgements();
  if (refused) drained = *refused;
  for (std::uint32_t i = 0; i < texts.size() && drained && link.is_up(); ++i) {
    wire::UnsubscribeT unsubscribe;
    unsubscribe.subscription = i + 1;
    const auto reply = co_await link.connection()->ask(std::move(unsubscribe));
    if (!reply) drained = reply.error();
  }
  over = true;
  link.close();
  co_return drained;
}

Subscription::Subscription(std::shared_ptr<Loop::Impl> loop, std::shared_ptr<Impl> impl)
    : loop_(std::move(loop)), impl_(std::move(impl)) {}
Subscription::Subscription(Subscription&&) noexcept = default;
Subscription& Subscription::operator=(Subscription&& other) noexcept {
  std::swap(loop_, other.loop_);
  std::swap(impl_, other.impl_);
  return *this;
}
Subscription::~Subscription() {
  if (impl_) impl_->link.close();
}

Result<Subscription> Subscription::open(const std::string& address, std::vector<std::string> texts,
                                        StreamOptions options) {
  auto loop = std::make_shared<Loop::Impl>();
  auto impl = std::make_shared<Impl>(loop->io, address, std::move(texts), options);
  const auto opened = client::run(loop->io, impl->link.open(*impl));
  if (!opened) return opened.error();
  return Subscription(std::move(loop), std::move(impl));
}

Awaited<Result<Subscription>> Subscription::async_open(Loop& loop, const std::string& address,
                                                       const std::vector<std::string>& texts) {
  return async_open(loop, address, texts, StreamOptions());
}
Awaited<Result<Subscription>> Subscription::async_open(Loop& loop, const std::string& address,
                                                       const std::vector<std::string>& texts,
                                                       const StreamOptions& options) {
  const auto& owner = loop.impl();
  auto impl = std::make_shared<Impl>(owner->io, address, texts, options);
  return client::awaited<Result<Subscription>>(
      owner->io, [owner, impl]() -> Coroutine<Result<Subscription>> {
        const auto opened = co_await impl->link.open(*impl);
        if (!opened) co_return opened.error();
        co_return Subscription(owner, impl);
      });
}

Result<std::optional<Item>> Subscription::next(Duration timeout) {
  return impl_->next<Item>(timeout);
}
Result<std::optional<BatchItem>> Subscription::next_batch(Duration timeout) {
  return impl_->next<BatchItem>(timeout);
}

Awaited<Result<Item>> Subscription::async_next() {
  if (impl_->is_ready()) return Awaited<Result<Item>>(impl_->take_next<Item>());
  return client::awaited<Result<Item>>(loop_->io,
                                       [impl = impl_] { return impl->wait_for_next<Item>(); });
}
Awaited<Result<BatchItem>> Subscription::async_next_batch() {
  if (impl_->is_ready()) return Awaited<Result<BatchItem>>(impl_->take_next<BatchItem>());
  return client::awaited<Result<BatchItem>>(
      loop_->io, [impl = impl_] { return impl->wait_for_next<BatchItem>(); });
}

Result<void> Subscription::drain() { return client::run(loop_->io, impl_->drain()); }
Awaited<Result<void>> Subscription::async_drain() {
  return client::awaited<Result<void>>(loop_->io, [impl = impl_] { return impl->drain(); });
}

void Subscription::close() {
  impl_->entries.clear();
  impl_->over = true;
  impl_->link.close();
}

void Subscription::acknowledge(const Place& place) { impl_->acknowledge(place); }
Place Subscription::acknowledged() const { return impl_->acknowledged; }

const Diagnostics& Subscription::warnings() const { return impl_->warnings; }
bool Subscription::is_connected() const { return impl_->link.is_up(); }
bool Subscription::is_leaving() const {
  return impl_->link.is_up() && impl_->link.connection()->is_leaving();
}
std::uint64_t Subscription::times_full() const { return impl_->times_full; }

}  // namespace gorgo
