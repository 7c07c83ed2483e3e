#include "server/admission.hpp"

#include <algorithm>
#include <limits>
#include <new>
#include <utility>

#include "protocol/batch_check.hpp"
#include "server/memory_reserve.hpp"
#include "server/security/permissions.hpp"

namespace gorgo::server {
namespace {

constexpr std::size_t kMostRefusals = 64;

std::unique_ptr<wire::RefusalT> refusal(std::uint32_t row, const Error& error) {
  auto refused = std::make_unique<wire::RefusalT>();
  refused->row = row;
  refused->reason = error.message;
  refused->hint = error.hint;
  return refused;
}

Result<void> check_ack(wire::AckMode mode, const JournalWriter& journal) {
  if (mode == wire::AckMode::Durable && !journal.is_on()) {
    return Error{
        "this server keeps events in memory, so it cannot acknowledge that they are durable",
        "use Accepted or Processed, or start the server with --journal"};
  }
  if (mode <= wire::AckMode::MAX) return {};
  return Error{"this server does not know that acknowledgement",
               "use Accepted, Processed, Durable or None"};
}

/// Whether the event could be delivered, if need be in a frame of its own.
Result<void> fits_in_a_frame(const BatchCursor& event, const Limits& limits) {
  const auto bytes = delivery_bytes(event, limits);
  if (bytes <= limits.max_frame) return {};
  return Error{"the event needs " + std::to_string(bytes) +
                   " bytes to be delivered, more than the " + std::to_string(limits.max_frame) +
                   " of a frame",
               "publish smaller values, or raise limits.max_frame"};
}

/// The largest timestamp that an accepted event of the batch can have. The server stamps with `now`
/// at most.
Timestamp last_timestamp(const EventBatch& batch, Timestamp now) {
  Timestamp last = std::numeric_limits<Timestamp>::min();
  for (const EventTable& table : batch.tables) {
    if (table.timestamps.empty() && table.events > 0) last = std::max(last, now);
    for (const Timestamp timestamp : table.timestamps) last = std::max(last, timestamp);
  }
  return last;
}

void note_refusal(wire::AckT& ack, const BatchCursor& event, const Error& why) noexcept {
  if (++ack.refused > kMostRefusals) return;
  try {
    ack.refusals.push_back(refusal(event.position(), why));
  } catch (const std::bad_alloc&) {
    // The client still learns of it from the count.
  }
}

}  // namespace

Admission::Admission(Parts parts, const ServerOptions& options, Log& log)
    : parts_(std::move(parts)),
      limits_(options.limits),
      clock_watch_(
          log, [&clock = parts_.clock] { return clock.now(); }, options.processor.max_ahead) {}

bool Admission::publish(Command& command, std::uint64_t id, const wire::Publish& request) {
  auto publication = std::move(command.publication);
  if (publication == nullptr) publication = begin(command, id, request);
  if (publication == nullptr) return true;
  const std::uint32_t most = command.piece_rows > 0 ? command.piece_rows : UINT32_MAX;
  // No row can be too large for a delivery when the whole frame would fit with room to spare.
  const bool measured = command.frame.size() > limits_.max_frame / 2;
  if (append(*publication, most, measured)) {
    command.publication = std::move(publication);
    return false;
  }
  const wire::AckT& ack = publication->ack;
  if (ack.accepted == 0 && memory_reserve::is_given_up()) {
    // Nothing of it was applied, so the same publication may be sent again.
    if (request.producer() != 0) {
      parts_.producers.retract(request.producer(), publication->applied_before);
    }
    command.client->reply(error_reply(id, wire::ErrorCode::Overloaded, kShortOfMemory));
    return true;
  }
  const Timestamp last = last_timestamp(publication->batch.next().batch(), parts_.clock.now());
  latency_.add(command.received, ack.accepted, last);
  acknowledge(command, id, *publication, last);
  return true;
}

std::unique_ptr<Publication> Admission::begin(Command& command, std::uint64_t id,
                                              const wire::Publish& request) {
  auto publication = std::make_unique<Publication>(*request.batch(), command.user);
  publication->frame = command.frame;
  if (const auto known = check_ack(request.ack(), parts_.journal); !known) {
    command.client->reply(error_reply(id, wire::ErrorCode::Invalid, known.error()));
    return nullptr;
  }
  if (const auto room = parts_.journal.make_room(command.frame.size()); !room) {
    command.client->reply(error_reply(id, wire::ErrorCode::Overloaded, room.error()));
    return nullptr;
  }
  const std::uint64_t producer = request.producer();
  publication->applied_before = parts_.producers.last(producer);
  if (producer != 0 && !parts_.producers.advance(producer, request.sequence())) {
    publication->ack.duplicate = true;
    // What it repeats may not be durable yet.
    acknowledge(command, id, *publication, std::nullopt);
    return nullptr;
  }
  watch_clock(*command.client, publication->batch.next().batch());
  return publication;
}

void Admission::acknowledge(const Command& command, std::uint64_t id,
                            const Publication& publication, std::optional<Timestamp> last) {
  const wire::AckMode mode = command.message().body_as_Publish()->ack();
  if (mode == wire::AckMode::None && publication.ack.refused == 0) return;
  protocol::Bytes ack = protocol::encode(id, publication.ack);
  if (mode == wire::AckMode::Processed && last) {
    return processed_acks_.add(command.client, std::move(ack), *last);
  }
  if (mode == wire::AckMode::Durable) {
    return parts_.journal.reply_when_durable(command.client, std::move(ack));
  }
  parts_.journal.reply(command.client, std::move(ack));
}

void Admission::watch_clock(const Outbox& client, const EventBatch& batch) {
  clock_watch_.begin();
  for (const EventTable& table : batch.tables) {
    for (const Timestamp timestamp : table.timestamps) clock_watch_.take(timestamp);
  }
  clock_watch_.end(client, std::chrono::steady_clock::now());
}

bool Admission::append(Publication& publication, std::uint32_t most, bool measured) {
  const IncomingBatch& batch = publication.batch;
  while (most > 0 && !batch.done()) {
    const std::uint32_t before = batch.next().position();
    append_some(publication, most, measured);
    most -= batch.next().position() - before;
    parts_.process_if_many();
  }
  publication.ack.accepted = batch.accepted();
  return !batch.done();
}

void Admission::append_some(Publication& publication, std::uint32_t most, bool measured) {
  IncomingBatch& batch = publication.batch;
  const std::uint32_t first = batch.next().position(), accepted = batch.accepted();
  const EngineClock::Hold held(parts_.clock);
  refused_rows_.clear();
  const auto refuse = [&](const BatchCursor& event, const Error& why) {
    ++refused_;
    note_refusal(publication.ack, event, why);
    if (parts_.journal.is_on()) refused_rows_.push_back(event.position());
  };
  Intake intake{.events = most,
                .pending = limits_.batch_events,
                .pending_bytes = limits_.batch_bytes,
                .pause = memory_reserve::is_given_up,
                .check = {}};
  if (measured || publication.restricted != nullptr) {
    intake.check = [this, measured, &publication](const BatchCursor& event) {
      return check(publication, event, measured);
    };
  }
  // Nothing is taken from the little memory that evaluations may need.
  bool short_of_memory = memory_reserve::is_given_up();
  try {
    if (!short_of_memory) parts_.processor.append(batch, refuse, intake);
  } catch (const std::bad_alloc&) {
    short_of_memory = true;
  }
  if (short_of_memory) {
    ++refused_for_memory_;
    refuse(batch.next(), kShortOfMemory);
    batch.leave_out();
  }
  if (!parts_.journal.is_on()) return;
  // Without an accepted row so far, nothing happened that a replay would miss.
  if (batch.accepted() == accepted && publication.frame_at == 0) return;
  publication.frame_at = parts_.journal.write({.frame = publication.frame,
                                               .frame_at = publication.frame_at,
                                               .clock = held.reading(),
                                               .first_row = first,
                                               .rows = batch.next().position() - first,
                                               .refused = refused_rows_});
}

Result<void> Admission::check(const Publication& publication, const BatchCursor& event,
                              bool measured) {
  if (publication.restricted != nullptr && publication.is_forbidden[event.table_number()]) {
    ++refused_forbidden_;
    return check_publish(*publication.restricted, event.table().type);
  }
  auto fits = measured ? fits_in_a_frame(event, limits_) : Result<void>();
  if (!fits) ++refused_too_large_;
  return fits;
}

void Admission::settle() {
  processed_acks_.send(parts_.processor,
                       [this](const std::shared_ptr<Outbox>& client, protocol::Bytes ack) {
                         parts_.journal.reply(client, std::move(ack));
                       });
  latency_.settle(parts_.processor);
}

void Admission::report(Statistics& statistics) const {
  const ProcessorCounters& processed = parts_.processor.counters();
  const auto add = [&](const char* reason, std::uint64_t events) {
    statistics.push_back({"events_refused_by_reason", events, false, "reason", reason});
  };
  add("too_late", processed.too_late);
  add("too_ahead", processed.too_ahead);
  add("too_large", refused_too_large_);
  add("forbidden", refused_forbidden_);
  add("memory", refused_for_memory_);
  add("invalid", refused_ - processed.too_late - processed.too_ahead - refused_too_large_ -
                     refused_forbidden_ - refused_for_memory_);
}

}  // namespace gorgo::server
