#include "server/engine/admission.hpp"

#include <algorithm>
#include <chrono>
#include <limits>
#include <new>
#include <string>
#include <utility>

#include "cluster/wire.hpp"
#include "language/server_types.hpp"
#include "protocol/batch.hpp"
#include "protocol/batch_check.hpp"
#include "protocol/info.hpp"
#include "server/dead_letters.hpp"
#include "server/memory_reserve.hpp"
#include "server/security/permissions.hpp"

namespace gorgo::server {
namespace {

constexpr std::size_t kMostRefusals = 64;
/// Clients choose the names of types, so refusals are counted by so many of them at most, and by
/// those that rules read or somebody has declared.
constexpr std::size_t kMostTypes = 1000;

std::unique_ptr<wire::RefusalT> refusal(std::uint32_t row, const Error& error) {
  auto refused = std::make_unique<wire::RefusalT>();
  refused->row = row;
  refused->reason = error.message;
  refused->hint = error.hint;
  return refused;
}

Result<void> check_ack(wire::AckMode mode, const JournalWriter& journal) {
  if (journal.read_only()) return {};  // what takes the events says so, with the reason
  if (mode == wire::AckMode::Durable && !journal.is_on()) {
    return Error{
        "this server keeps events in memory, so it cannot acknowledge that they are durable",
        "use Accepted or Processed, or start the server with --journal"};
  }
  if (mode <= wire::AckMode::MAX) return {};
  return Error{"this server does not know that acknowledgement",
               "use Accepted, AcceptedAtOnce, Processed, Durable or None"};
}

/// Whether the event could be delivered, if need be in a frame of its own.
/// `most`: bytes that the event may have; fewer than a frame in a node of a cluster.
Result<void> fits(const BatchCursor& event, const Limits& limits, std::size_t most) {
  const auto bytes = delivery_bytes(event, limits);
  if (bytes <= most) return {};
  const std::string needs = "the event needs " + std::to_string(bytes) +
                            " bytes to be delivered, more than the " + std::to_string(most) +
                            " of ";
  if (most < limits.max_frame) {
    return Error{needs + "an event of a cluster", "publish smaller values"};
  }
  return Error{needs + "a frame", "publish smaller values, or raise limits.max_frame"};
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

/// The least timestamp of a batch; unset: its events have none.
std::optional<Timestamp> first_timestamp(const EventBatch& batch) {
  std::optional<Timestamp> first;
  for (const EventTable& table : batch.tables) {
    for (const Timestamp timestamp : table.timestamps) {
      first = std::min(first.value_or(timestamp), timestamp);
    }
  }
  return first;
}

void note_refusal(wire::AckT& ack, const BatchCursor& event, const Error& why) noexcept {
  if (++ack.refused > kMostRefusals) return;
  try {
    ack.refusals.push_back(refusal(event.position(), why));
  } catch (const std::bad_alloc&) {
    // The client still learns of it from the count.
  }
}

Result<void> refuse_own(std::string_view type) {
  return Error{"only the server itself publishes events of type '" + std::string(type) + "'",
               "choose a name that does not begin with 'gorgo.'"};
}

/// `door`: whose position the frame takes along; null: none.
protocol::Bytes frame_of(BatchBuilder& events, const wire::Publish* door) {
  flatbuffers::FlatBufferBuilder builder(events.bytes() + 1024);
  const auto batch = protocol::pack(builder, events.batch());
  flatbuffers::Offset<flatbuffers::String> name;
  flatbuffers::Offset<flatbuffers::Vector<std::uint8_t>> position;
  if (door != nullptr && door->position() != nullptr) {
    name = builder.CreateString(door->door());
    position = builder.CreateVector(door->position()->data(), door->position()->size());
  }
  const auto publish =
      wire::CreatePublish(builder, 0, 0, wire::AckMode::None, batch, name, position);
  builder.FinishSizePrefixed(wire::CreateMessage(builder, 0, wire::Body::Publish, publish.Union()),
                             wire::MessageIdentifier());
  return {builder.GetBufferPointer(), builder.GetBufferPointer() + builder.GetSize()};
}

}  // namespace

Admission::Admission(Parts parts, const ServerOptions& options, Log& log)
    : parts_(std::move(parts)),
      limits_(options.limits),
      most_event_bytes_(options.cluster.is_on()
                            ? std::min(limits_.max_frame, cluster::kMostEventBytes)
                            : limits_.max_frame),
      log_(log),
      clock_watch_(
          log, [&clock = parts_.clock] { return clock.now(); }, options.processor.max_ahead) {}

Admission::Progress Admission::publish(Command& command, std::uint64_t id,
                                       const wire::Publish& request) {
  auto publication = std::move(command.publication);
  latency_.begin(command.received);
  if (publication == nullptr) {
    publication = begin(command, id, request);
    if (publication == nullptr) return Progress::over;
  } else if (!has_room_for_piece(command, request, *publication)) {
    command.publication = std::move(publication);
    return Progress::no_room;
  }
  const std::uint32_t most = command.piece_rows > 0 ? command.piece_rows : UINT32_MAX;
  // No row can be too large for a delivery when the whole frame would fit with room to spare.
  const bool measured = command.frame.size() > most_event_bytes_ / 2;
  if (append(*publication, most, measured)) {
    command.publication = std::move(publication);
    return Progress::rows_left;
  }
  const wire::AckT& ack = publication->ack;
  const bool found_no_memory = ack.accepted == 0 && publication->found_no_memory;
  const auto kept =
      found_no_memory ? Result<void>(kShortOfMemory) : keep_position(request, *publication);
  if (!kept) {
    // Nothing of it was applied, so the same publication may be sent again.
    take_back(request, *publication);
    command.client->reply(error_reply(id, wire::ErrorCode::Overloaded, kept.error()));
    return Progress::over;
  }
  // What was refused as a whole stands in no journal, so that its number is free behind a crash,
  // too.
  if (ack.accepted == 0) free_number(request, *publication);
  publish_dead(request, nullptr, [&](BatchBuilder& letters, std::optional<Timestamp> stamp) {
    add_dead_letters(letters, stamp, publication->door, publication->dead_letters);
  });
  const Timestamp last = last_timestamp(publication->batch.next().batch(), parts_.clock.now());
  latency_.add(command.received, ack.accepted, last);
  acknowledge(command, id, *publication, last);
  return Progress::over;
}

std::size_t Admission::bytes_of_piece(const Command& command, const wire::Publish& request,
                                      const Publication& publication) const {
  constexpr std::size_t kRecords = 256;  // one of what is accepted, one of what is refused
  const std::uint64_t rows = protocol::row_count(*request.batch());
  const std::uint64_t most = command.piece_rows > 0 ? command.piece_rows : rows;
  const std::uint64_t piece = std::min(most, rows);
  const std::size_t frame = publication.frame_at == 0 ? command.frame.size() : 0;
  return frame + piece * sizeof(std::uint32_t) + (piece / limits_.batch_events + 1) * kRecords;
}

bool Admission::has_room_for_piece(const Command& command, const wire::Publish& request,
                                   const Publication& publication) {
  if (!parts_.journal.is_on() || parts_.is_ending()) return true;
  return parts_.journal.make_room_for_rest(bytes_of_piece(command, request, publication))
      .has_value();
}

std::unique_ptr<Publication> Admission::begin(Command& command, std::uint64_t id,
                                              const wire::Publish& request) {
  auto publication = std::make_unique<Publication>(*request.batch());
  restrict(*publication, command.user);
  publication->frame = command.frame;
  // A journal that has failed makes nothing durable, and doors go on without where they may.
  const auto known = check_ack(request.ack(), parts_.journal);
  if (!known && !command.is_of_door) {
    command.client->reply(error_reply(id, wire::ErrorCode::Invalid, known.error()));
    return nullptr;
  }
  if (const auto room = make_room(bytes_of_piece(command, request, *publication)); !room) {
    command.client->reply(error_reply(id, wire::ErrorCode::Overloaded, room.error()));
    return nullptr;
  }
  if (request.door() != nullptr) {
    if (!begin_of_door(command, id, request, *publication)) return nullptr;
    // Its dead letters have taken of the room.
    const auto room = parts_.journal.make_room(bytes_of_piece(command, request, *publication));
    if (!room) {
      parts_.positions.retract(publication->door, publication->position_before);
      command.client->reply(error_reply(id, wire::ErrorCode::Overloaded, room.error()));
      return nullptr;
    }
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

bool Admission::begin_of_door(const Command& command, std::uint64_t id,
                              const wire::Publish& request, Publication& publication) {
  if (!command.is_of_door) {
    command.client->reply(
        error_reply(id, wire::ErrorCode::Forbidden,
                    {"only the server's own doors publish as a door", "leave `door` out"}));
    return false;
  }
  if (memory_reserve::is_given_up()) {
    // Else dead letters would be published now, and again with the events that find no room.
    command.client->reply(error_reply(id, wire::ErrorCode::Overloaded, kShortOfMemory));
    return false;
  }
  publication.door = protocol::text_of(request.door());
  const bool has_events = !publication.batch.done();
  const bool has_dead = request.dead() != nullptr && request.dead()->size() > 0;
  const Own told = publish_dead(request, has_events ? nullptr : &request,
                                [&](BatchBuilder& letters, std::optional<Timestamp> stamp) {
                                  add_dead_letters(letters, stamp, request);
                                });
  if (told == Own::no_room) {
    command.client->reply(error_reply(id, wire::ErrorCode::Overloaded, kShortOfMemory));
    return false;
  }
  publication.position_before = parts_.positions.find(publication.door);
  if (request.position() != nullptr) {
    parts_.positions.set(publication.door,
                         {request.position()->data(), request.position()->size()});
  }
  if (has_events) return true;
  const bool is_kept = has_dead && told == Own::accepted;
  const auto kept = is_kept ? Result<void>() : keep_position(request, publication);
  if (kept) {
    acknowledge(command, id, publication, std::nullopt);
  } else {
    take_back(request, publication);
    command.client->reply(error_reply(id, wire::ErrorCode::Overloaded, kept.error()));
  }
  return false;
}

Result<void> Admission::keep_position(const wire::Publish& request,
                                      const Publication& publication) {
  if (publication.door.empty() || publication.frame_at != 0 || !parts_.journal.is_on()) return {};
  BatchBuilder nothing;
  const protocol::Bytes frame = frame_of(nothing, &request);
  if (auto room = parts_.journal.make_room(frame.size()); !room) return room;
  parts_.journal.write_request(frame);
  return {};
}

void Admission::free_number(const wire::Publish& request, const Publication& publication) {
  if (request.producer() == 0) return;
  parts_.producers.retract(request.producer(), request.sequence(), publication.applied_before);
}

void Admission::take_back(const wire::Publish& request, const Publication& publication) {
  free_number(request, publication);
  if (!publication.door.empty()) {
    parts_.positions.retract(publication.door, publication.position_before);
  }
}

void Admission::note_dead(Publication& publication, const BatchCursor& event,
                          const Error& why) noexcept {
  try {
    publication.dead_letters.push_back(refused_row(event, why.message));
  } catch (const std::bad_alloc&) {
    // The door learns of it from the count.
  }
}

Result<void> Admission::make_room(std::size_t bytes) {
  auto room = parts_.durables.check_room();
  if (room) room = parts_.journal.make_room(bytes);
  if (room) return room;
  ++without_room_;
  if (const auto times = room_limit_.note()) {
    log_.warning("publications are not taken",
                 {{"error", room.error().to_string()}, {"times", *times}});
  }
  return room;
}

void Admission::acknowledge(const Command& command, std::uint64_t id,
                            const Publication& publication, std::optional<Timestamp> last) {
  const wire::AckMode mode = command.message().body_as_Publish()->ack();
  if (mode == wire::AckMode::None && publication.ack.refused == 0) return;
  // The journal has failed since the publication began, and nobody knows how much of it is there.
  // Doors go on without a journal where they may.
  const bool is_unknown =
      parts_.journal.read_only() ||
      (mode == wire::AckMode::Durable && !parts_.journal.is_on() && !command.is_of_door);
  if (is_unknown) return command.client->close();
  protocol::Bytes ack = protocol::encode(id, publication.ack);
  if (mode == wire::AckMode::Processed && last) {
    return processed_acks_.add(command.client, std::move(ack), *last);
  }
  if (mode == wire::AckMode::Durable) {
    return parts_.journal.reply_when_durable(command.client, std::move(ack));
  }
  if (mode == wire::AckMode::AcceptedAtOnce) {
    return parts_.journal.reply_when_written(command.client, std::move(ack));
  }
  parts_.journal.reply(command.client, std::move(ack));
}

void Admission::watch_clock(const Outbox& client, const EventBatch& batch) {
  clock_watch_.begin(parts_.processor.clock());
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
    count_refusal(event.table().type);
    note_refusal(publication.ack, event, why);
    if (!publication.door.empty()) note_dead(publication, event, why);
    if (parts_.journal.is_on()) refused_rows_.push_back(event.position());
  };
  Intake intake{.events = most,
                .pending = limits_.batch_events,
                .pending_bytes = limits_.batch_bytes,
                .pause = memory_reserve::is_given_up,
                .check = {}};
  if (measured || !publication.is_forbidden.empty()) {
    intake.check = [this, measured, &publication](const BatchCursor& event) {
      return check(publication, event, measured);
    };
  }
  // Nothing is taken from the little memory that evaluations may need.
  bool& short_of_memory = publication.found_no_memory;
  short_of_memory = short_of_memory || memory_reserve::is_given_up();
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

void Admission::count_refusal(std::string_view type) {
  ++refused_;
  try {
    auto counted = refused_by_type_.find(type);
    if (counted == refused_by_type_.end()) {
      const bool full =
          refused_by_type_.size() >= kMostTypes && parts_.processor.schema().find(type) == nullptr;
      counted = refused_by_type_.try_emplace(full ? std::string() : std::string(type)).first;
    }
    ++counted->second;
  } catch (const std::bad_alloc&) {
    // The sum has it.
  }
}

Result<void> Admission::check(const Publication& publication, const BatchCursor& event,
                              bool measured) {
  if (!publication.is_forbidden.empty() && publication.is_forbidden[event.table_number()]) {
    ++refused_forbidden_;
    const std::string_view type = event.table().type;
    return language::is_server_name(type) ? refuse_own(type)
                                          : check_publish(*publication.restricted, type);
  }
  auto small = measured ? fits(event, limits_, most_event_bytes_) : Result<void>();
  if (!small) ++refused_too_large_;
  return small;
}

void Admission::restrict(Publication& publication, UserPtr user) {
  const auto& tables = publication.batch.next().batch().tables;
  const auto is_forbidden = [&](const EventTable& table) {
    return language::is_server_name(table.type) ||
           (user != nullptr && !user->publish.allows(table.type));
  };
  if (std::ranges::none_of(tables, is_forbidden)) return;
  for (const EventTable& table : tables) publication.is_forbidden.push_back(is_forbidden(table));
  publication.restricted = std::move(user);
}

std::optional<Timestamp> Admission::own_stamp() const {
  return parts_.processor.stamps() ? std::nullopt : std::optional(parts_.processor.clock());
}

Admission::Own Admission::publish_dead(const wire::Publish& request, const wire::Publish* door,
                                       const AddDead& add) {
  // Before the first event the clock is not set, and must not be ahead of what comes now.
  const auto stamp =
      parts_.processor.clock() ? own_stamp() : first_timestamp(protocol::view_of(*request.batch()));
  BatchBuilder letters;
  add(letters, stamp);
  if (letters.events() == 0) return Own::accepted;
  const Own told = publish_own(letters, door);
  if (told != Own::refused || !stamp) return told;
  // The events have times that nobody takes.
  BatchBuilder stamped;
  add(stamped, std::nullopt);
  return publish_own(stamped, door);
}

Admission::Own Admission::publish_own(BatchBuilder& events, const wire::Publish* door) {
  const protocol::Bytes frame = frame_of(events, door);
  if (!parts_.journal.make_room(frame.size())) return Own::no_room;
  const auto* message = flatbuffers::GetSizePrefixedRoot<wire::Message>(frame.data());
  Publication publication(*message->body_as_Publish()->batch());
  publication.frame = frame;
  while (append(publication, UINT32_MAX, true)) {
  }
  if (publication.ack.accepted > 0) return Own::accepted;
  return memory_reserve::is_given_up() ? Own::no_room : Own::refused;
}

void Admission::settle() {
  processed_acks_.send(parts_.processor,
                       [this](const std::shared_ptr<Outbox>& client, protocol::Bytes ack) {
                         try {
                           parts_.journal.reply(client, std::move(ack));
                         } catch (const std::bad_alloc&) {
                           client->close();  // without an Ack the outcome is unknown
                         }
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
  statistics.push_back({"publications_without_room", without_room_});
  for (const auto& [type, events] : refused_by_type_) {
    statistics.push_back({"type_events_refused", events, false, "type", type});
  }
}

}  // namespace gorgo::server
