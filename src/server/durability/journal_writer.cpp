#include "server/durability/journal_writer.hpp"

#include <array>
#include <new>
#include <utility>

#include "journal/recovery.hpp"
#include "server/replies.hpp"

namespace gorgo::server {

using journal::stored::Kind;

JournalWriter::JournalWriter(const JournalOptions& options, Log& log,
                             std::function<void()> on_synced)
    : options_(options), log_(log), on_synced_(std::move(on_synced)) {}

JournalWriter::~JournalWriter() = default;

Result<void> JournalWriter::open() {
  if (options_.path.empty()) return {};
  disk_ = options_.disk ? options_.disk : journal::make_posix_disk();
  auto opened =
      journal::Journal::open(*disk_, options_.path, {.segment_bytes = options_.segment_bytes});
  if (!opened) return opened.error();
  journal_ = std::move(*opened);
  const std::string cut = journal_->recovery().to_string();
  if (!cut.empty()) log_.warning("the journal ended in the middle of a record", {{"cut", cut}});
  committer_ =
      std::make_unique<journal::Committer>(*journal_, [this](const Result<journal::Place>&) {
        send_durable();
        on_synced_();
      });
  return {};
}

Result<void> JournalWriter::begin() {
  const auto room = journal_->make_room(0);
  if (room) return {};
  const Error& why = room.error();
  return Error{"the journal cannot begin a file: " + why.message,
               (why.hint.empty() ? "" : why.hint + "; ") + "a start needs journal.segment_bytes"};
}

Result<void> JournalWriter::make_room(std::size_t bytes) {
  constexpr std::size_t kForRests = 4096;  // dozens of records without frames
  return make_room_for_rest(bytes + kForRests);
}

Result<void> JournalWriter::make_room_for_rest(std::size_t bytes) {
  if (read_only_) return *read_only_;
  if (!is_on()) return {};
  constexpr std::size_t kBesideFrame = 1024;
  auto room = journal_->make_room(bytes + kBesideFrame);
  if (room) return {};
  if (const auto failed = journal_->failure()) {
    fail(*failed);
    return make_room_for_rest(bytes);
  }
  ++shortages_;
  const std::string& hint = room.error().hint;
  return Error{
      "the journal finds no room: " + room.error().message,
      (hint.empty() ? "see that " + options_.path + " is there and its disk has room" : hint) +
          ", then send it again"};
}

journal::Place JournalWriter::append(Kind kind, std::span<const journal::Bytes> parts) {
  for (const journal::Bytes part : parts) written_ += part.size();
  const auto place = journal_->append(static_cast<std::uint16_t>(kind), parts);
  if (place) return *place;
  fail(place.error());
  return 0;
}

void JournalWriter::append(Kind kind, journal::Bytes payload) {
  const std::array<journal::Bytes, 1> parts = {payload};
  append(kind, parts);
}

journal::Place JournalWriter::write(const TakenPiece& piece) {
  if (!is_on()) return 0;
  if (!piece.refused.empty()) {
    journal::stored::RefusalsT refused;
    refused.rows.assign(piece.refused.begin(), piece.refused.end());
    write<journal::stored::Refusals>(Kind::Refusals, refused);
    if (!is_on()) return 0;
  }
  const journal::stored::Acceptance how(piece.clock, piece.frame_at, piece.first_row, piece.rows);
  const auto frame = piece.frame_at == 0 ? piece.frame : std::span<const std::uint8_t>();
  const std::array<journal::Bytes, 2> parts = {journal::bytes_of(how), std::as_bytes(frame)};
  const auto place = append(Kind::Frame, parts);
  return piece.frame_at == 0 ? place : piece.frame_at;
}

void JournalWriter::write_request(std::span<const std::uint8_t> frame) {
  if (!is_on()) return;
  const journal::stored::Acceptance how(0, 0, 0, 0);
  const std::array<journal::Bytes, 2> parts = {journal::bytes_of(how), std::as_bytes(frame)};
  append(Kind::Frame, parts);
}

void JournalWriter::before_output() {
  write_gathered();
  if (options_.durability == Durability::durable) await_durable();
}

void JournalWriter::await_durable() {
  if (!is_on() || is_durable()) return;
  const auto durable = committer_->wait(journal_->end() - 1);
  if (!durable) fail(durable.error());
}

void JournalWriter::write_gathered() {
  if (!is_on()) return;
  if (const auto written = journal_->write(); !written) return fail(written.error());
  for (Waiting& waiting : std::exchange(unwritten_, {})) send(waiting);
}

void JournalWriter::reply_when_written(const std::shared_ptr<Outbox>& client,
                                       protocol::Bytes reply) {
  if (!is_on()) {
    client->reply(std::move(reply));
    return;
  }
  unwritten_.push_back({journal_->end() - 1, client, std::move(reply)});
  client->owe();
}

void JournalWriter::reply_when_durable(const std::shared_ptr<Outbox>& client,
                                       protocol::Bytes reply) {
  const std::lock_guard lock(waiting_mutex_);
  // Behind those that wait, if any do, even when all are durable.
  if (!is_on() || (waiting_.empty() && is_durable())) {
    client->reply(std::move(reply));
    return;
  }
  waiting_.push_back({journal_->end() - 1, client, std::move(reply)});
  client->owe();
}

bool JournalWriter::is_awaited() {
  const std::lock_guard lock(waiting_mutex_);
  return wanted_ || !waiting_.empty();
}

void JournalWriter::begin_sync() {
  write_gathered();
  if (!is_on() || is_durable()) return;
  if (options_.durability == Durability::durable || is_awaited()) {
    committer_->request(journal_->end() - 1);
  }
}

void JournalWriter::reply(const std::shared_ptr<Outbox>& client, protocol::Bytes reply) {
  if (options_.durability == Durability::durable) {
    reply_when_durable(client, std::move(reply));
  } else {
    reply_when_written(client, std::move(reply));
  }
}

void JournalWriter::end_turn() {
  write_gathered();
  if (!is_on()) return;
  const auto due = due_in();
  if (!is_awaited() && (!due || due->count() > 0)) return;
  wanted_ = false;
  synced_at_ = Clock::now();
  committer_->request(journal_->end() - 1);
}

std::optional<std::chrono::nanoseconds> JournalWriter::due_in() const {
  if (!is_on() || options_.durability != Durability::buffered || is_durable()) return {};
  return options_.sync - (Clock::now() - synced_at_);
}

void JournalWriter::send_durable() {
  const std::lock_guard lock(waiting_mutex_);
  const journal::Place durable = journal_->durable();
  while (!waiting_.empty() && waiting_.front().place < durable) {
    send(waiting_.front());
    waiting_.pop_front();
  }
}

void JournalWriter::send(Waiting& waiting) {
  try {
    waiting.client->reply(std::move(waiting.reply));
  } catch (const std::bad_alloc&) {
    waiting.client->close();  // what became of its request is unknown to the client then
  }
  waiting.client->paid();
}

void JournalWriter::synced() {
  if (!is_on()) return;
  if (const auto failed = journal_->failure()) fail(*failed);
}

void JournalWriter::close() {
  write_gathered();
  if (!is_on()) return;
  committer_.reset();
  if (const auto closed = journal_->close(); !closed) {
    if (journal_->failure()) return fail(closed.error());
    // All that was written is durable; only the marks behind it are missing.
    log_.warning("the journal ends without marks", {{"error", closed.error().to_string()}});
  }
  send_durable();
}

/// Clients whose replies wait never learn what became of their requests: their connections end, or
/// they are told that nobody knows.
void JournalWriter::fail(const Error& why) {
  if (failure_) return;
  failure_ = why;
  log_.error("the journal has failed", {{"error", why.to_string()}});
  for (Waiting& waiting : std::exchange(unwritten_, {})) waiting.client->close();
  {
    const std::lock_guard lock(waiting_mutex_);
    for (Waiting& waiting : std::exchange(waiting_, {})) waiting.client->close();
  }
  if (options_.on_failure == JournalFailure::stop) throw JournalFailed{why.message};
  if (options_.on_failure == JournalFailure::go_on) {
    log_.warning("the server goes on without a journal, as journal.on_failure demands");
    return;
  }
  read_only_ =
      Error{"the journal has failed, so the server changes nothing any more: " + why.message,
            "see to the disk, then restart the server"};
  is_read_only_ = true;
  log_.warning("the server changes and delivers nothing any more, as journal.on_failure demands");
}

}  // namespace gorgo::server
