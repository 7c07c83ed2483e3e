#include "server/outbox.hpp"

#include <new>
#include <utility>

#include "server/delivery.hpp"
#include "server/replies.hpp"

namespace gorgo::server {

Outbox::Outbox(std::uint64_t id, std::string peer, const Limits& limits, ClientTotals& totals,
               std::function<void()> wake)
    : id_(id),
      peer_(std::move(peer)),
      max_bytes_(limits.outbound_bytes),
      policy_(limits.slow_consumer),
      totals_(totals),
      wake_(std::move(wake)) {}

Outbox::~Outbox() { totals_.memory.give_back(bytes_); }

void Outbox::wake() noexcept {
  try {
    wake_();
  } catch (const std::bad_alloc&) {
    missed_wake_ = true;
  }
}

void Outbox::notify(std::unique_lock<std::mutex> lock) {
  // A writer that is busy writing must learn of the end too, for its deadline.
  const bool needed = !notified_ || closed_ || std::exchange(report_due_, false);
  notified_ = true;
  lock.unlock();
  totals_.memory.check();
  if (needed) wake();
}

void Outbox::append(protocol::Bytes frame, std::size_t rows) {
  bytes_ += frame.size();
  totals_.memory.add(frame.size());
  frames_.push_back({std::move(frame), rows});
}

void Outbox::clear_frames() {
  frames_.clear();
  totals_.memory.give_back(bytes_ - writing_bytes_);
  bytes_ = writing_bytes_;
}

void Outbox::count_lost(std::uint64_t rows) {
  if (rows == 0) return;
  lost_ += rows;
  totals_.lost_rows += rows;
  if (const auto due = loss_log_.note(rows)) {
    report_.lost_rows += *due;
    report_due_ = true;
  }
}

void Outbox::tell_losses() {
  if (lost_ > 0) append(loss_notice(std::exchange(lost_, 0)), 0);
}

Error Outbox::overflow_error() const {
  return {"more than " + std::to_string(max_bytes_) + " bytes wait for this client",
          "read faster, subscribe to less, or raise limits.outbound_bytes"};
}

void Outbox::replace_by(const Error& why) {
  std::uint64_t rows = 0;
  for (const Frame& frame : frames_) rows += frame.rows;
  clear_frames();
  count_lost(rows);
  Error told = why;
  if (lost_ > 0) told.message += "; " + std::to_string(lost_) + " events for it were discarded";
  tell_losses();
  append(error_reply(0, wire::ErrorCode::Overloaded, told), 0);
  report_.lost_rows += loss_log_.take_unsaid();
  report_.overflowed = true;
  ++totals_.slow_consumers;
  closed_ = true;
}

Outbox::Outcome Outbox::reply(protocol::Bytes frame) {
  std::unique_lock lock(mutex_);
  if (closed_) return Outcome::closed;
  const bool fits = bytes_ + frame.size() <= max_bytes_;
  if (fits) {
    append(std::move(frame), 0);
  } else {
    replace_by(overflow_error());
  }
  notify(std::move(lock));
  return fits ? Outcome::queued : Outcome::overflowed;
}

Outbox::Outcome Outbox::deliver(protocol::Bytes frame, std::size_t rows) {
  std::unique_lock lock(mutex_);
  if (closed_) return Outcome::closed;
  Outcome outcome = Outcome::queued;
  if (bytes_ + frame.size() <= max_bytes_) {
    if (lost_ > 0) set_lost(frame, std::exchange(lost_, 0));
    append(std::move(frame), rows);
  } else {
    count_lost(rows);
    outcome = policy_ == SlowConsumer::drop ? Outcome::dropped : Outcome::overflowed;
    if (outcome == Outcome::overflowed) replace_by(overflow_error());
  }
  notify(std::move(lock));
  return outcome;
}

void Outbox::notice(protocol::Bytes frame) {
  std::unique_lock lock(mutex_);
  if (closed_ || bytes_ + frame.size() > max_bytes_) return;
  append(std::move(frame), 0);
  notify(std::move(lock));
}

void Outbox::lose(std::size_t rows) {
  std::unique_lock lock(mutex_);
  if (closed_) return;
  count_lost(rows);
  notify(std::move(lock));
}

void Outbox::close() {
  std::unique_lock lock(mutex_);
  closed_ = true;
  notify(std::move(lock));
}

void Outbox::finish(protocol::Bytes last) {
  std::unique_lock lock(mutex_);
  if (!closed_) {
    tell_losses();
    append(std::move(last), 0);
  }
  closed_ = true;
  notify(std::move(lock));
}

void Outbox::overload(const Error& why) {
  std::unique_lock lock(mutex_);
  if (!closed_) replace_by(why);
  notify(std::move(lock));
}

void Outbox::give_up() {
  std::lock_guard lock(mutex_);
  closed_ = true;
  std::uint64_t rows = std::exchange(writing_rows_, 0);
  for (const Frame& frame : frames_) rows += frame.rows;
  clear_frames();
  count_lost(rows);
}

void Outbox::abandon() {
  std::lock_guard lock(mutex_);
  closed_ = true;
  clear_frames();
}

std::vector<protocol::Bytes> Outbox::take() {
  std::lock_guard lock(mutex_);
  notified_ = false;
  std::vector<protocol::Bytes> taken;
  std::size_t bytes = 0;
  const auto take_front = [&] {
    bytes += frames_.front().bytes.size();
    writing_rows_ += frames_.front().rows;
    taken.push_back(std::move(frames_.front().bytes));
    frames_.pop_front();
  };
  while (!frames_.empty() && bytes < kMostWritten) take_front();
  if (frames_.empty()) {
    tell_losses();
    if (!frames_.empty()) take_front();
  }
  writing_bytes_ = bytes;
  return taken;
}

void Outbox::written() {
  std::lock_guard lock(mutex_);
  bytes_ -= writing_bytes_;
  totals_.memory.give_back(std::exchange(writing_bytes_, 0));
  writing_rows_ = 0;
}

bool Outbox::closed() const {
  std::lock_guard lock(mutex_);
  return closed_;
}

std::size_t Outbox::bytes() const {
  std::lock_guard lock(mutex_);
  return bytes_;
}

Outbox::Report Outbox::report(bool all) {
  std::lock_guard lock(mutex_);
  if (all) report_.lost_rows += loss_log_.take_unsaid();
  return std::exchange(report_, {});
}

}  // namespace gorgo::server
