#include "server/durability/snapshots.hpp"

#include <algorithm>
#include <exception>
#include <utility>

#include "server/log_limit.hpp"

namespace gorgo::server {
namespace {

using journal::stored::SnapshotKind;

constexpr std::size_t kSomeBytes = std::size_t{256} << 10;
/// Publications that were begun may have so many bytes; a FlatBuffer takes 2 GiB.
constexpr std::size_t kMostUnfinished = std::size_t{1} << 30;

SnapshotRecord record_of(Processor::SavedPart part) {
  return {.kind = static_cast<std::uint16_t>(SnapshotKind::Processor),
          .bytes = {},
          .shared = part.bytes,
          .owner = std::move(part.owner)};
}

}  // namespace

Snapshots::Snapshots(const JournalOptions& options, JournalWriter& journal, Processor& processor,
                     const ServerKnowledge& knowledge, CommandQueue& queue, Log& log)
    : options_(options),
      journal_(journal),
      processor_(processor),
      knowledge_(knowledge),
      queue_(queue),
      log_(log) {}

void Snapshots::recovered(std::uint64_t snapshot_bytes, std::uint64_t record_bytes) {
  last_size_ = snapshot_bytes;
  before_ = record_bytes;
}

bool Snapshots::is_due() const {
  if (options_.snapshot_bytes == 0 || thread_ != nullptr) return false;
  if (processor_.is_getting_ready()) return false;
  if (failed_at_ && *failed_at_ < journal_.shortages()) return Clock::now() >= rests_until_;
  const std::uint64_t since = before_ + journal_.written() - from_;
  if (since < std::max(options_.snapshot_bytes, last_size_)) return false;
  return since / kMostGrowth >= last_size_ || Clock::now() >= rests_until_;
}

void Snapshots::rest(Clock::duration least) {
  const auto now = Clock::now();
  rests_until_ = now + std::max(least, kRest * (now - begun_));
}

void Snapshots::note_failure() {
  failed_at_ = journal_.shortages();
  rest(LogLimit::kPause);  // where it fails at once, too, it does not fill the log
}

void Snapshots::attempt(const std::function<void()>& step) {
  try {
    step();
  } catch (const std::exception& failure) {
    stop();  // it would lack what the step has taken
    from_ = before_ + journal_.written();
    note_failure();
    log_.warning("no snapshot was made, so the journal grows on", {{"why", failure.what()}});
  }
}

void Snapshots::look() {
  if (!journal_.is_on()) return stop();
  attempt([this] { go_on(); });
}

void Snapshots::go_on() {
  end_if_done();
  if (is_due()) begin();
  constexpr std::chrono::microseconds kMostTime{500};
  const auto start = Clock::now();
  while (is_taking() && thread_->has_room() && Clock::now() - start < kMostTime) {
    take_some(kSomeBytes);
  }
}

void Snapshots::end_if_done() {
  if (thread_ == nullptr || !thread_->is_done()) return;
  if (is_taking()) processor_.end_save();  // it failed in the middle
  if (thread_->bytes() > 0) {
    last_size_ = thread_->bytes();
    rest();
  } else {
    note_failure();
  }
  forget();
}

void Snapshots::make_last() {
  if (options_.snapshot_bytes == 0 || !journal_.is_on()) return;
  stop();
  attempt([this] { go_to_the_end(); });
  stop();
}

void Snapshots::go_to_the_end() {
  constexpr std::chrono::milliseconds kLook{20};  // whether the processor was stopped
  begin();
  while (thread_ != nullptr && !processor_.is_stopped()) {
    if (is_taking() && thread_->has_room()) {
      take_some(kSomeBytes);
    } else {
      thread_->wait(is_taking(), kLook);
    }
    end_if_done();
  }
}

/// A publication that was begun and of which nothing is in the journal yet would be counted as
/// applied by its producer, so a snapshot waits for it.
void Snapshots::begin() {
  begun_ = Clock::now();
  const auto unfinished = queue_.unfinished();
  if (std::ranges::any_of(unfinished, [](const auto* each) { return each->frame_at == 0; })) return;
  std::size_t bytes = 0;
  for (const Publication* each : unfinished) bytes += each->frame.size();
  if (bytes > kMostUnfinished) return;
  auto saved = processor_.begin_save();
  from_ = before_ + journal_.written();
  failed_at_.reset();
  if (!saved) {
    log_.warning("no snapshot can be made", {{"why", saved.error().to_string()}});
    return;
  }
  thread_ = std::make_unique<SnapshotThread>(journal_.journal(), journal_.journal().end(),
                                             options_.retain_hours, log_);
  const auto state = state_of(knowledge_, processor_.roots(), unfinished);
  thread_->add({.kind = static_cast<std::uint16_t>(SnapshotKind::ServerState),
                .bytes = journal::encode<journal::stored::ServerState>(state)});
  parts_.emplace(knowledge_);
  state_ = record_of(std::move(*saved));
  chunks_ = knowledge_.durables.chunks();
}

void Snapshots::forget() {
  thread_ = nullptr;
  parts_.reset();
  state_.reset();
  chunks_.clear();
}

/// The next of the server's parts, then what the processor gave first, then the rest of that;
/// unset: there is no more.
std::optional<SnapshotRecord> Snapshots::next_record(std::size_t bytes) {
  if (const auto part = parts_ ? parts_->next() : std::nullopt) {
    return SnapshotRecord{.kind = static_cast<std::uint16_t>(SnapshotKind::ServerPart),
                          .bytes = journal::encode<journal::stored::ServerPart>(*part)};
  }
  parts_.reset();
  if (state_) return std::exchange(state_, std::nullopt);
  if (auto part = processor_.save_more(bytes)) return record_of(std::move(*part));
  return std::nullopt;
}

/// Takes about so many bytes. Returns how many it has taken.
std::size_t Snapshots::take_some(std::size_t bytes) {
  if (auto record = next_record(bytes)) {
    const std::size_t size = record->size();
    thread_->add(std::move(*record));
    return size;
  }
  processor_.end_save();
  for (SnapshotRecord& chunk : chunks_) thread_->add(std::move(chunk));
  chunks_.clear();
  thread_->end();
  return 0;
}

void Snapshots::finish_taking() {
  constexpr std::size_t kMost = std::size_t{64} << 20;
  attempt([this] {
    std::size_t taken = 0;
    while (taken < kMost && is_taking() && !thread_->is_done()) taken += take_some(kSomeBytes);
  });
  if (!is_taking()) return;
  stop();
  from_ = 0;  // due again
}

void Snapshots::stop() {
  if (is_taking()) processor_.end_save();
  forget();
}

}  // namespace gorgo::server
