#include "gorgo/publisher.hpp"

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <cstdint>
#include <random>
#include <utility>

#include "client/link.hpp"
#include "client/publication.hpp"
#include "client/replies.hpp"
#include "client/unanswered.hpp"
#include "protocol/batch.hpp"

namespace gorgo {
namespace {

using client::after;
using client::Connection;
using client::Coroutine;
using client::Frame;
using client::Pending;
using client::Tally;
using client::TallyPointer;

Outcome outcome_of(const Tally& tally) {
  if (tally.doubt) return {Outcome::Kind::unknown, tally.published, *tally.doubt};
  const bool refused = tally.published.refused > 0;
  return {refused ? Outcome::Kind::refused : Outcome::Kind::accepted, tally.published, {}};
}

void add(Published& sum, const Published& more) {
  sum.accepted += more.accepted;
  sum.refused += more.refused;
  sum.duplicates += more.duplicates;
  for (const Refusal& refusal : more.refusals) sum.refusals.push_back(refusal);
}

}  // namespace

struct Publisher::Impl final : client::Link::User {
  Impl(boost::asio::io_context& io, const std::string& address, const PublisherOptions& given)
      : options(given), link(io, address, given.client, given.longest_pause) {
    std::random_device random;
    producer = options.client.producer;
    sequence = options.first_sequence - 1;
    if (producer == 0) producer = (std::uint64_t{random()} << 32 | random()) | 1;
  }

  const PublisherOptions options;
  client::Link link;
  std::uint64_t producer;
  std::uint64_t sequence = 0;
  std::uint64_t last_id = std::uint64_t{1} << 32;  // above those of the connections
  client::BatchLimits limits;
  client::Unanswered unanswered;
  bool is_retrying = false;                       // what was put off
  BatchBuilder collected;                         // by `send`, not posted yet
  TallyPointer sent = std::make_shared<Tally>();  // by `send`, since the last `flush`
  std::vector<TallyPointer> unknown;              // since then

  // What the link asks of its user.
  Coroutine<Result<void>> begin(Connection& connection) override;
  void reconnected(Duration, std::uint64_t) override {}
  void disconnected(const Error&) override {}
  void take(DeliveredBatch, const Lost&) override {}
  bool has_room() const override { return true; }
  void take_reply(const wire::Message& reply) override;

  bool has_space() const { return unanswered.bytes() < options.publish_bytes || link.ended(); }
  /// Whether nothing more will become known of it.
  bool is_settled(const TallyPointer& tally) const { return tally->waiting == 0 || link.ended(); }
  bool is_flushed() const;
  void send(Pending message);
  void take_error(Pending& message, const wire::Message& reply);
  void finish(std::uint64_t id);
  void overtake(std::uint64_t id, bool by_duplicate);
  void renumber(std::uint64_t id);
  void retry_later();
  Coroutine<> retry();
  Result<void> post(const EventBatch& batch, const TallyPointer& tally);
  Result<void> post(std::span<const Event> events, const TallyPointer& tally);
  Result<void> post_collected();
  Error no_space() const;
  Result<Outcome> settle(const TallyPointer& tally);
  Outcome settle_all();
  Result<void> collect(const Event& event);
  bool wait_for_space();
  template <class Events>
  Result<Outcome> publish(const Events& events);
  template <class Events>
  Coroutine<Result<Outcome>> publish_later(Events events);
  Coroutine<Result<void>> send_later(Event event);
  Coroutine<Outcome> flush_later();
};

/// Sends again what was not answered, in its order.
Coroutine<Result<void>> Publisher::Impl::begin(Connection& connection) {
  limits = connection.limits();
  unanswered.call_in();
  for (const Pending& waiting : unanswered.all()) connection.post(waiting.frame);
  co_return Result<void>();
}

void Publisher::Impl::take_reply(const wire::Message& reply) {
  Pending* const found = unanswered.find(reply.id());
  if (found == nullptr) return;
  if (const auto* ack = reply.body_as_Ack()) {
    Published& published = found->tally->published;
    published.accepted += ack->accepted();
    published.refused += ack->refused();
    if (ack->duplicate()) published.duplicates += found->count;
    for (Refusal& refusal : client::to_refusals(*ack, found->first)) {
      published.refusals.push_back(std::move(refusal));
    }
    finish(reply.id());
    for (const auto earlier : unanswered.put_off_before(reply.id())) {
      overtake(earlier, ack->duplicate());
    }
  } else {
    take_error(*found, reply);
  }
  if (unanswered.are_all_put_off()) retry_later();
}

void Publisher::Impl::take_error(Pending& message, const wire::Message& reply) {
  const auto* error = reply.body_as_Error();
  // A stopping server did not carry it out: the next one gets it.
  if (error != nullptr && error->code() == wire::ErrorCode::Stopping) return;
  if (error != nullptr && error->code() == wire::ErrorCode::Overloaded) {
    return unanswered.put_off(message);
  }
  const Error why = client::unexpected(reply);
  Published& published = message.tally->published;
  published.refused += std::max<std::size_t>(message.count, 1);
  published.refusals.push_back({message.first, why.message, why.hint});
  finish(message.id);
}

/// The message has its answer, in its tally.
void Publisher::Impl::finish(std::uint64_t id) {
  constexpr std::size_t kKept = 1000;
  auto& refusals = unanswered.take(id).tally->published.refusals;
  if (refusals.size() > kKept) refusals.resize(kKept);
  if (unanswered.empty()) (void)post_collected();
  link.changed().notify();
}

/// A later message was applied, so the server takes the number of one that it put off for applied,
/// too. `by_duplicate`: an earlier connection has applied it, which may have carried both.
void Publisher::Impl::overtake(std::uint64_t id, bool by_duplicate) {
  const Pending& message = *unanswered.find(id);
  if (message.count == 0) return;  // a tick, which has no number
  if (!by_duplicate && options.client.producer == 0) return renumber(id);
  const Error why{"the server was short of memory for it, and has applied a later one",
                  "publish it under a new number", client::kUnknown};
  if (by_duplicate) {
    message.tally->doubt = why;
  } else {
    Published& published = message.tally->published;
    published.refused += message.count;
    published.refusals.push_back({message.first, why.message, why.hint});
  }
  finish(id);
}

void Publisher::Impl::renumber(std::uint64_t id) {
  Pending message = unanswered.take(id);
  const auto* publish = (*protocol::open_frame(*message.frame))->body_as_Publish();
  wire::PublishT header;
  header.producer = producer;
  header.sequence = ++sequence;
  header.ack = publish->ack();
  const auto view = protocol::view_of(*publish->batch());
  // A server that takes less by now refuses it as it would have refused it under its old number.
  constexpr client::BatchLimits kAny{.max_frame = SIZE_MAX, .max_rows = UINT32_MAX};
  auto piece = client::encode_piece(view, message.first, kAny, header, ++last_id);
  std::uint64_t& told = message.tally->published.sequence;
  if (told == message.sequence) told = sequence;
  message.id = last_id;
  message.sequence = sequence;
  message.frame = std::make_shared<const protocol::Bytes>(std::move((*piece)->frame));
  message.is_put_off = false;
  unanswered.add(std::move(message));
  unanswered.put_off(*unanswered.find(last_id));
}

void Publisher::Impl::retry_later() {
  if (std::exchange(is_retrying, true)) return;
  const auto self = std::static_pointer_cast<Impl>(shared_from_this());
  boost::asio::co_spawn(
      link.io(), [self] { return self->retry(); }, boost::asio::detached);
}

Coroutine<> Publisher::Impl::retry() {
  constexpr Duration kPause = 100'000'000;
  const auto self = shared_from_this();
  const auto until = after(kPause);
  while (!link.ended() && client::Clock::now() < until) co_await link.changed().wait(until);
  is_retrying = false;
  // A new connection has sent them already.
  if (!unanswered.are_all_put_off() || !link.is_up()) co_return;
  unanswered.call_in();
  for (const Pending& waiting : unanswered.all()) link.connection()->post(waiting.frame);
}

void Publisher::Impl::send(Pending message) {
  message.tally->sent += message.count;
  if (link.is_up()) link.connection()->post(message.frame);
  unanswered.add(std::move(message));
}

Result<void> Publisher::Impl::post(const EventBatch& batch, const TallyPointer& tally) {
  if (batch.events() == 0) return {};
  wire::PublishT header;
  header.producer = producer;
  header.sequence = sequence + 1;
  // Without an answer there would be no outcome.
  const bool is_silent = options.acknowledge == Acknowledge::none;
  header.ack = client::mode_of(is_silent ? Acknowledge::by_default : options.acknowledge);
  auto piece = client::encode_piece(batch, tally->sent, limits, header, ++last_id);
  if (!piece) return piece.error();
  if (!*piece) {
    for (BatchBuilder& half : client::halves_of(batch)) {
      if (auto posted = post(half.batch(), tally); !posted) return posted;
    }
    return {};
  }
  ++sequence;
  if (tally->sent == 0) tally->published.sequence = sequence;
  send({.id = (*piece)->id,
        .sequence = sequence,
        .frame = std::make_shared<const protocol::Bytes>(std::move((*piece)->frame)),
        .tally = tally,
        .first = tally->sent,
        .count = (*piece)->count});
  return {};
}

Result<void> Publisher::Impl::post(std::span<const Event> events, const TallyPointer& tally) {
  Result<void> posted;
  while (posted && !events.empty()) posted = post(client::collect(events, limits).batch(), tally);
  return posted;
}

Result<void> Publisher::Impl::post_collected() {
  BatchBuilder batch = std::exchange(collected, {});
  return post(batch.batch(), sent);
}

Error Publisher::Impl::no_space() const {
  if (link.ended()) return *link.ended();
  return {std::to_string(unanswered.bytes()) +
              " bytes wait for an answer of the server; nothing was sent",
          "is the server there? publish_bytes is the limit", client::kTimeout};
}

Result<Outcome> Publisher::Impl::settle(const TallyPointer& tally) {
  if (tally->waiting == 0) return outcome_of(*tally);
  unknown.push_back(tally);
  const Error why = link.ended() ? *link.ended()
                                 : Error{"the server has not answered in time",
                                         "the events are being sent again; flush tells the rest",
                                         client::kUnknown};
  return Outcome{Outcome::Kind::unknown, tally->published, why};
}

bool Publisher::Impl::is_flushed() const {
  return link.ended() || (unanswered.empty() && collected.events() == 0);
}

Outcome Publisher::Impl::settle_all() {
  Tally all = *sent;
  for (const TallyPointer& tally : unknown) {
    add(all.published, tally->published);
    all.waiting += tally->waiting;
    if (tally->doubt) all.doubt = tally->doubt;
  }
  Outcome outcome = outcome_of(all);
  if (all.waiting > 0 || collected.events() > 0) {
    outcome.kind = Outcome::Kind::unknown;
    outcome.reason = link.ended() ? *link.ended()
                                  : Error{"the server has not answered in time",
                                          "the events are being sent again", client::kUnknown};
    return outcome;  // all of it is told again, when it is known
  }
  sent = std::make_shared<Tally>();
  unknown.clear();
  return outcome;
}

bool Publisher::Impl::wait_for_space() {
  return link.run_until(after(options.client.timeout), [this] { return has_space(); }) &&
         !link.ended();
}

Result<void> Publisher::Impl::collect(const Event& event) {
  constexpr std::size_t kMostBytes = std::size_t{1} << 20;
  collected.add(event);
  const bool enough =
      collected.events() >= options.batch || collected.bytes() >= kMostBytes || collected.full();
  return enough || unanswered.empty() ? post_collected() : Result<void>();
}

template <class Events>
Result<Outcome> Publisher::Impl::publish(const Events& events) {
  if (!wait_for_space()) return no_space();
  if (auto posted = post_collected(); !posted) return posted.error();
  const auto tally = std::make_shared<Tally>();
  if (auto posted = post(events, tally); !posted) return posted.error();
  link.run_until(after(options.client.timeout), [&] { return is_settled(tally); });
  return settle(tally);
}

template <class Events>
Coroutine<Result<Outcome>> Publisher::Impl::publish_later(Events events) {
  const auto self = shared_from_this();
  const auto until = after(options.client.timeout);
  while (!has_space() && client::Clock::now() < until) co_await link.changed().wait(until);
  if (!has_space() || link.ended()) co_return no_space();
  auto posted = post_collected();
  const auto tally = std::make_shared<Tally>();
  if (posted) posted = post(events, tally);
  if (!posted) co_return posted.error();
  while (!is_settled(tally) && client::Clock::now() < until) co_await link.changed().wait(until);
  co_return settle(tally);
}

Coroutine<Result<void>> Publisher::Impl::send_later(Event event) {
  const auto self = shared_from_this();
  const auto until = after(options.client.timeout);
  while (!has_space() && client::Clock::now() < until) co_await link.changed().wait(until);
  if (!has_space() || link.ended()) co_return no_space();
  co_return collect(event);
}

Coroutine<Outcome> Publisher::Impl::flush_later() {
  const auto self = shared_from_this();
  const auto until = after(options.client.timeout);
  (void)post_collected();
  while (!is_flushed() && client::Clock::now() < until) co_await link.changed().wait(until);
  co_return settle_all();
}

Publisher::Publisher(std::shared_ptr<Loop::Impl> loop, std::shared_ptr<Impl> impl)
    : loop_(std::move(loop)), impl_(std::move(impl)) {}
Publisher::Publisher(Publisher&&) noexcept = default;
Publisher& Publisher::operator=(Publisher&& other) noexcept {
  std::swap(loop_, other.loop_);
  std::swap(impl_, other.impl_);
  return *this;
}
Publisher::~Publisher() {
  if (impl_) impl_->link.close();
}

Result<Publisher> Publisher::open(const std::string& address, PublisherOptions options) {
  auto loop = std::make_shared<Loop::Impl>();
  auto impl = std::make_shared<Impl>(loop->io, address, options);
  const auto opened = client::run(loop->io, impl->link.open(*impl));
  if (!opened) return opened.error();
  return Publisher(std::move(loop), std::move(impl));
}

Awaited<Result<Publisher>> Publisher::async_open(Loop& loop, const std::string& address) {
  return async_open(loop, address, PublisherOptions());
}
Awaited<Result<Publisher>> Publisher::async_open(Loop& loop, const std::string& address,
                                                 const PublisherOptions& options) {
  const auto& owner = loop.impl();
  auto impl = std::make_shared<Impl>(owner->io, address, options);
  return client::awaited<Result<Publisher>>(owner->io,
                                            [owner, impl]() -> Coroutine<Result<Publisher>> {
                                              const auto opened = co_await impl->link.open(*impl);
                                              if (!opened) co_return opened.error();
                                              co_return Publisher(owner, impl);
                                            });
}

Result<Outcome> Publisher::publish(std::span<const Event> events) { return impl_->publish(events); }
Result<Outcome> Publisher::publish(const EventBatch& batch) { return impl_->publish(batch); }

Awaited<Result<Outcome>> Publisher::async_publish(std::span<const Event> events) {
  return client::awaited<Result<Outcome>>(
      loop_->io, [impl = impl_, copy = std::vector<Event>(events.begin(), events.end())] {
        return impl->publish_later(copy);
      });
}
Awaited<Result<Outcome>> Publisher::async_publish(const EventBatch& batch) {
  BatchBuilder copy;
  for (BatchCursor event(batch); !event.done(); event.advance()) copy.add(event.to_event());
  return client::awaited<Result<Outcome>>(
      loop_->io,
      [impl = impl_, kept = std::make_shared<BatchBuilder>(std::move(copy))]()
          -> Coroutine<Result<Outcome>> { co_return co_await impl->publish_later(kept->batch()); });
}

Result<void> Publisher::send(const Event& event) {
  constexpr std::uint32_t kBetweenPolls = 16;
  if (!impl_->wait_for_space()) return impl_->no_space();
  if (impl_->unanswered.empty() || impl_->collected.events() % kBetweenPolls == 0) {
    loop_->io.restart();
    loop_->io.poll();
  }
  return impl_->collect(event);
}
Result<void> Publisher::send(const EventBatch& batch) {
  if (!impl_->wait_for_space()) return impl_->no_space();
  if (auto posted = impl_->post_collected(); !posted) return posted;
  auto posted = impl_->post(batch, impl_->sent);
  loop_->io.restart();
  loop_->io.poll();
  return posted;
}
Awaited<Result<void>> Publisher::async_send(const Event& event) {
  if (impl_->has_space() && !impl_->link.ended()) {
    return Awaited<Result<void>>(impl_->collect(event));
  }
  return client::awaited<Result<void>>(loop_->io,
                                       [impl = impl_, event] { return impl->send_later(event); });
}

Result<void> Publisher::tick(Timestamp timestamp) {
  if (!impl_->wait_for_space()) return impl_->no_space();
  if (auto posted = impl_->post_collected(); !posted) return posted;
  wire::TickT tick;
  tick.timestamp = timestamp;
  const std::uint64_t id = ++impl_->last_id;
  impl_->send({.id = id,
               .sequence = 0,
               .frame = std::make_shared<const protocol::Bytes>(protocol::encode(id, tick)),
               .tally = impl_->sent,
               .first = impl_->sent->sent,
               .count = 0});
  return {};
}

Outcome Publisher::flush() {
  (void)impl_->post_collected();
  impl_->link.run_until(after(impl_->options.client.timeout),
                        [this] { return impl_->is_flushed(); });
  return impl_->settle_all();
}
Awaited<Outcome> Publisher::async_flush() {
  return client::awaited<Outcome>(loop_->io, [impl = impl_] { return impl->flush_later(); });
}

Outcome Publisher::drain() {
  Outcome outcome = flush();
  impl_->link.close();
  return outcome;
}
Awaited<Outcome> Publisher::async_drain() {
  return client::awaited<Outcome>(loop_->io, [impl = impl_]() -> Coroutine<Outcome> {
    Outcome outcome = co_await impl->flush_later();
    impl->link.close();
    co_return outcome;
  });
}

void Publisher::run_for(Duration time) {
  impl_->link.run_until(after(time), [] { return false; });
}

bool Publisher::is_connected() const { return impl_->link.is_up(); }
bool Publisher::is_leaving() const {
  return impl_->link.is_up() && impl_->link.connection()->is_leaving();
}
std::uint64_t Publisher::reconnections() const { return impl_->link.reconnections(); }
std::size_t Publisher::waiting_bytes() const { return impl_->unanswered.bytes(); }

}  // namespace gorgo
