#include "client/publications.hpp"

#include <algorithm>
#include <random>
#include <utility>

#include "client/asking.hpp"

namespace gorgo::client {
namespace {

std::uint64_t random_producer() {
  std::random_device random;
  return (std::uint64_t{random()} << 32 | random()) | 1;
}

}  // namespace

Publications::Publications(Connection& connection, std::uint64_t producer)
    : connection_(connection),
      is_random_(producer == 0),
      producer_(is_random_ ? random_producer() : producer) {}

void Publications::take_reply(const wire::Message& reply) {
  constexpr std::size_t kKept = 1000;
  std::vector<Refusal> refusals;
  if (const auto* ack = reply.body_as_Ack()) {
    unacknowledged_.refused += ack->refused();
    refusals = to_refusals(*ack, 0);
  } else if (const auto* error = reply.body_as_Error()) {
    const Error refusal = to_error(*error);
    refusals.push_back({0, refusal.message, refusal.hint});
  }
  for (Refusal& refusal : refusals) {
    if (unacknowledged_.refusals.size() < kKept) {
      unacknowledged_.refusals.push_back(std::move(refusal));
    }
  }
}

Result<void> Publications::send(const EventBatch& batch, Call& call) {
  if (batch.events() == 0) return {};
  if (!is_random_ && !sequence_ && !call.options.sequence) return no_sequence();
  wire::PublishT header;
  header.producer = producer_;
  header.sequence = call.options.sequence.value_or(sequence_.value_or(0) + 1);
  header.ack = mode_of(call.options.acknowledge);
  auto piece = encode_piece(batch, call.first, connection_.limits(), header, connection_.next_id());
  if (!piece) return piece.error();
  if (call.options.sequence && (!*piece || (*piece)->count != call.events)) {
    return Error{"a publication with an explicit sequence number does not fit in one batch",
                 "publish fewer events at once"};
  }
  if (!*piece) {
    for (BatchBuilder& half : halves_of(batch)) {
      if (auto sent = send(half.batch(), call); !sent) return sent;
    }
    return {};
  }
  if (call.first == 0) call.published.sequence = header.sequence;
  sequence_ = std::max(sequence_.value_or(0), header.sequence);
  return send_piece(std::move(**piece), call);
}

Result<void> Publications::send_piece(Piece piece, Call& call) {
  const bool acknowledged = call.options.acknowledge != Acknowledge::none;
  if (auto done = connection_.send(piece.id, std::move(piece.frame), acknowledged); !done)
    return done;
  call.first += piece.count;
  piece.frame = {};
  if (acknowledged) call.sent.push_back(std::move(piece));
  return {};
}

Result<void> Publications::take_ack(const Piece& piece, Published& published) {
  const auto reply = connection_.reply(piece.id);
  if (!reply) return reply.error();
  const auto* ack = message_in(*reply).body_as_Ack();
  if (ack == nullptr) return unexpected(message_in(*reply));
  published.accepted += ack->accepted();
  published.refused += ack->refused();
  if (ack->duplicate()) published.duplicates += piece.count;
  for (auto& refusal : to_refusals(*ack, piece.first)) {
    published.refusals.push_back(std::move(refusal));
  }
  return {};
}

Result<Published> Publications::settle(Call& call, const Result<void>& wrote) {
  for (const Piece& piece : call.sent) {
    if (auto taken = take_ack(piece, call.published); !taken) return taken.error();
  }
  if (!wrote) return wrote.error();
  return std::move(call.published);
}

Result<Published> Publications::publish(std::span<const Event> events,
                                        const PublishOptions& options) {
  Call call{.options = options, .events = events.size()};
  Result<void> wrote;
  while (wrote && !events.empty()) {
    wrote = send(collect(events, connection_.limits()).batch(), call);
  }
  return settle(call, wrote);
}

Result<Published> Publications::publish(const EventBatch& batch, const PublishOptions& options) {
  Call call{.options = options, .events = batch.events()};
  return settle(call, send(batch, call));
}

}  // namespace gorgo::client
