#include "client/sender.hpp"

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <random>
#include <utility>

#include "client/replies.hpp"
#include "protocol/batch.hpp"

namespace gorgo::client {

Sender::Sender(boost::asio::io_context& io, const std::string& address,
               const PublisherOptions& given)
    : options(given),
      link(io, address, given.client, given.longest_pause),
      producer_(given.client.producer),
      sequence_(given.first_sequence.value_or(1) - 1) {
  std::random_device random;
  if (producer_ == 0) producer_ = (std::uint64_t{random()} << 32 | random()) | 1;
}

/// Sends again what was not answered, in its order.
Coroutine<Result<void>> Sender::begin(Connection& connection) {
  limits_ = connection.limits();
  put_off_because_.clear();
  unanswered.call_in(unanswered.all().size());
  for (const Pending& waiting : unanswered.all()) connection.post(waiting.frame);
  co_return Result<void>();
}

void Sender::take_reply(const wire::Message& reply) {
  Pending* const found = unanswered.find(reply.id());
  if (found == nullptr) return;
  if (const auto* ack = reply.body_as_Ack()) {
    Published& published = found->tally->published;
    put_off_because_.clear();
    published.accepted += ack->accepted();
    published.refused += ack->refused();
    if (ack->duplicate()) published.duplicates += found->count;
    for (Refusal& refusal : to_refusals(*ack, found->first)) {
      published.refusals.push_back(std::move(refusal));
    }
    finish(reply.id());
    for (const auto earlier : unanswered.put_off_before(reply.id())) {
      overtake(earlier, ack->duplicate());
    }
  } else {
    take_error(*found, reply);
  }
  if (!unanswered.are_all_put_off()) return;
  if (together_ > 0 && link.is_up()) {
    send_put_off();
  } else {
    retry_later();
  }
}

void Sender::take_error(Pending& message, const wire::Message& reply) {
  const auto* error = reply.body_as_Error();
  // A stopping server did not carry it out: the next one gets it.
  if (error != nullptr && error->code() == wire::ErrorCode::Stopping) return;
  if (error != nullptr && error->code() == wire::ErrorCode::Overloaded) {
    together_ = 0;
    put_off_because_ = unexpected(reply).to_string();
    return unanswered.put_off(message);
  }
  const Error why = unexpected(reply);
  Published& published = message.tally->published;
  published.refused += std::max<std::size_t>(message.count, 1);
  published.refusals.push_back({message.first, why.message, why.hint});
  finish(message.id);
}

Error Sender::why_unanswered(std::string hint) const {
  if (put_off_because_.empty()) {
    return {"the server has not answered in time", std::move(hint), kUnknown};
  }
  return {"the server takes nothing at the moment: " + put_off_because_, std::move(hint), kUnknown};
}

/// The message has its answer, in its tally.
void Sender::finish(std::uint64_t id) {
  constexpr std::size_t kKept = 1000;
  auto& refusals = unanswered.take(id).tally->published.refusals;
  if (refusals.size() > kKept) refusals.resize(kKept);
  if (unanswered.empty()) idle();
  link.changed().notify();
}

/// A later message was applied, so the server takes the number of one that it put off for applied,
/// too. `by_duplicate`: an earlier connection has applied it, which may have carried both.
void Sender::overtake(std::uint64_t id, bool by_duplicate) {
  const Pending& message = *unanswered.find(id);
  if (message.count == 0) return;  // a tick, which has no number
  if (!by_duplicate && options.client.producer == 0) return renumber(id);
  const Error why{"the server was short of memory for it, and has applied a later one",
                  "publish it under a new number", kUnknown};
  if (by_duplicate) {
    message.tally->doubt = why;
  } else {
    Published& published = message.tally->published;
    published.refused += message.count;
    published.refusals.push_back({message.first, why.message, why.hint});
  }
  finish(id);
}

void Sender::renumber(std::uint64_t id) {
  Pending message = unanswered.take(id);
  const auto* publish = (*protocol::open_frame(*message.frame))->body_as_Publish();
  wire::PublishT header;
  header.producer = producer_;
  header.sequence = ++sequence_;
  header.ack = publish->ack();
  const auto view = protocol::view_of(*publish->batch());
  // A server that takes less by now refuses it as it would have refused it under its old number.
  constexpr BatchLimits kAny{.max_frame = SIZE_MAX, .max_rows = UINT32_MAX};
  auto piece = encode_piece(view, message.first, kAny, header, ++last_id_);
  std::uint64_t& told = message.tally->published.sequence;
  if (told == message.sequence) told = sequence_;
  message.id = last_id_;
  message.sequence = sequence_;
  message.frame = std::make_shared<const protocol::Bytes>(std::move((*piece)->frame));
  message.is_put_off = false;
  unanswered.add(std::move(message));
  unanswered.put_off(*unanswered.find(last_id_));
}

void Sender::retry_later() {
  if (std::exchange(is_retrying_, true)) return;
  const auto self = std::static_pointer_cast<Sender>(shared_from_this());
  boost::asio::co_spawn(
      link.io(), [self] { return self->retry(); }, boost::asio::detached);
}

Coroutine<> Sender::retry() {
  constexpr Duration kPause = 100'000'000;
  const auto self = shared_from_this();
  const auto until = after(kPause);
  while (!link.ended() && Clock::now() < until) co_await link.changed().wait(until);
  is_retrying_ = false;
  // A new connection has sent them already.
  if (!unanswered.are_all_put_off() || !link.is_up()) co_return;
  send_put_off();
}

/// Sends a few, then twice as many each time: what the server has no room for would only cost it
/// time. Precondition: there is a connection, and none of the messages is under way.
void Sender::send_put_off() {
  together_ = std::max<std::size_t>(1, 2 * together_);
  const std::size_t count = std::min(together_, unanswered.all().size());
  unanswered.call_in(count);
  for (std::size_t i = 0; i < count; ++i) link.connection()->post(unanswered.all()[i].frame);
}

void Sender::send(Pending message) {
  message.tally->sent += message.count;
  // Nothing overtakes what the server had no room for, so that its turn comes.
  const bool waits = unanswered.has_put_off();
  if (!waits && link.is_up()) link.connection()->post(message.frame);
  const std::uint64_t id = message.id;
  unanswered.add(std::move(message));
  if (waits) unanswered.put_off(*unanswered.find(id));
}

Result<void> Sender::post(const EventBatch& batch, const TallyPointer& tally) {
  if (batch.events() == 0) return {};
  wire::PublishT header;
  header.producer = producer_;
  header.sequence = sequence_ + 1;
  // Without an answer there would be no outcome.
  const bool is_silent = options.acknowledge == Acknowledge::none;
  header.ack = mode_of(is_silent ? Acknowledge::by_default : options.acknowledge);
  auto piece = encode_piece(batch, tally->sent, limits_, header, ++last_id_);
  if (!piece) return piece.error();
  if (!*piece) {
    for (BatchBuilder& half : halves_of(batch)) {
      if (auto posted = post(half.batch(), tally); !posted) return posted;
    }
    return {};
  }
  ++sequence_;
  if (tally->sent == 0) tally->published.sequence = sequence_;
  send({.id = (*piece)->id,
        .sequence = sequence_,
        .frame = std::make_shared<const protocol::Bytes>(std::move((*piece)->frame)),
        .tally = tally,
        .first = tally->sent,
        .count = (*piece)->count});
  return {};
}

Result<void> Sender::post(std::span<const Event> events, const TallyPointer& tally) {
  Result<void> posted;
  while (posted && !events.empty()) posted = post(collect(events, limits_).batch(), tally);
  return posted;
}

void Sender::post_tick(Timestamp timestamp, const TallyPointer& tally) {
  wire::TickT tick;
  tick.timestamp = timestamp;
  const std::uint64_t id = ++last_id_;
  send({.id = id,
        .sequence = 0,
        .frame = std::make_shared<const protocol::Bytes>(protocol::encode(id, tick)),
        .tally = tally,
        .first = tally->sent,
        .count = 0});
}

}  // namespace gorgo::client
