#include "server/sessions/outbox.hpp"

#include <new>
#include <utility>

#include "server/replies.hpp"

namespace gorgo::server {

Outbox::Outbox(std::uint64_t id, std::string peer, const Limits& limits, ClientTotals& totals,
               std::function<void()> wake)
    : id_(id),
      peer_(std::move(peer)),
      limits_(limits),
      totals_(totals),
      wake_(std::move(wake)),
      queue_(totals.memory) {}

Outbox::~Outbox() = default;

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
  if (awaited_) room_.notify_all();
  lock.unlock();
  totals_.memory.check();
  if (needed) wake();
}

void Outbox::count_lost(std::uint64_t rows) {
  if (rows == 0) return;
  totals_.lost_rows += rows;
  if (const auto due = loss_log_.note(rows)) {
    report_.lost_rows += *due;
    report_due_ = true;
  }
}

void Outbox::leave_out(const ClientDelivery& delivery) {
  const Gap rows = delivery.as_gap();
  queue_.lose(rows);
  count_lost(rows.rows);
}

Error Outbox::overflow_error() const {
  return {"more than " + std::to_string(limits_.outbound_bytes) + " bytes wait for this client",
          "read faster, subscribe to less, or raise limits.outbound_bytes"};
}

void Outbox::overflow(const Error& why) {
  report_.overflowed = true;
  ++totals_.slow_consumers;
  replace_by(why, wire::ErrorCode::Overloaded);
}

void Outbox::replace_by(const Error& why, wire::ErrorCode code) {
  count_lost(queue_.clear());
  report_.lost_rows += loss_log_.take_unsaid();
  closed_ = true;
  try {
    report_.why = why.message;
    Error told = why;
    const std::uint64_t lost = queue_.untold().rows;
    if (lost > 0) told.message += "; " + std::to_string(lost) + " events for it were discarded";
    queue_.tell_losses();
    queue_.push(error_reply(0, code, told));
  } catch (const std::bad_alloc&) {  // the connection ends without a word
  }
}

bool Outbox::make_room(std::size_t bytes, const ClientDelivery* newcomer) {
  while (queue_.bytes() + bytes > limits_.outbound_bytes) {
    const auto dropped = queue_.drop_oldest(newcomer);
    if (!dropped) return false;
    count_lost(*dropped);
  }
  return true;
}

void Outbox::note_bytes() {
  if (queue_.bytes() <= limits_.soft_outbound_bytes) above_soft_.reset();
}

Outbox::Outcome Outbox::reply(protocol::Bytes frame) {
  std::unique_lock lock(mutex_);
  if (closed_) return Outcome::closed;
  const bool fits = make_room(frame.size());
  if (fits) {
    queue_.push(std::move(frame));
  } else {
    overflow(overflow_error());
  }
  notify(std::move(lock));
  return fits ? Outcome::queued : Outcome::overflowed;
}

Outbox::Outcome Outbox::put(const ClientDelivery& delivery) {
  if (closed_) return Outcome::closed;
  if (make_room(delivery.bytes(), &delivery)) return push(delivery);
  if (delivery.policy == SlowConsumer::block) return Outcome::full;
  leave_out(delivery);
  if (delivery.policy == SlowConsumer::drop) return Outcome::dropped;
  overflow(overflow_error());
  return Outcome::overflowed;
}

Outbox::Outcome Outbox::push(const ClientDelivery& delivery) {
  try {
    queue_.push(delivery);
    return Outcome::queued;
  } catch (const std::bad_alloc&) {
    leave_out(delivery);
    return Outcome::dropped;
  }
}

Outbox::Outcome Outbox::deliver(const ClientDelivery& delivery) {
  std::unique_lock lock(mutex_);
  const Outcome outcome = put(delivery);
  if (outcome != Outcome::closed) notify(std::move(lock));
  return outcome;
}

void Outbox::notice(protocol::Bytes frame) {
  std::unique_lock lock(mutex_);
  if (closed_ || queue_.bytes() + frame.size() > limits_.outbound_bytes) return;
  queue_.push(std::move(frame));
  notify(std::move(lock));
}

Outbox::Outcome Outbox::await_room(const ClientDelivery& delivery, Time deadline) {
  std::unique_lock lock(mutex_);
  Outcome outcome = Outcome::full;
  ++totals_.subscriber_waits;
  awaited_ = true;
  room_.wait_until(lock, deadline, [&] {
    outcome = put(delivery);
    return outcome != Outcome::full;
  });
  awaited_ = false;
  if (outcome == Outcome::full) {
    leave_out(delivery);
    Error why = overflow_error();
    why.message +=
        ", and publishers have waited for it for " + std::to_string(limits_.block.count()) + " ms";
    why.hint += " or limits.block_ms";
    overflow(why);
    outcome = Outcome::overflowed;
  }
  if (outcome != Outcome::closed) notify(std::move(lock));
  return outcome;
}

void Outbox::lose(const Gap& rows) {
  std::unique_lock lock(mutex_);
  if (closed_) return;
  queue_.lose(rows);
  count_lost(rows.rows);
  notify(std::move(lock));
}

void Outbox::look(Time now) {
  std::unique_lock lock(mutex_);
  note_bytes();
  const bool above = queue_.bytes() > limits_.soft_outbound_bytes;
  if (closed_ || !above || limits_.soft_outbound.count() == 0) return;
  if (!above_soft_) above_soft_ = now;
  if (now - *above_soft_ < limits_.soft_outbound) return;
  while (queue_.bytes() > limits_.soft_outbound_bytes) {
    const auto dropped = queue_.drop_oldest();
    if (!dropped) {
      overflow({"more than " + std::to_string(limits_.soft_outbound_bytes) +
                    " bytes have waited for this client for " +
                    std::to_string(limits_.soft_outbound.count()) + " ms",
                "read faster, subscribe to less, or raise limits.soft_outbound_bytes"});
      break;
    }
    count_lost(*dropped);
  }
  note_bytes();
  notify(std::move(lock));
}

bool Outbox::may_wait() const {
  std::lock_guard lock(mutex_);
  return !queue_.has_undroppable();
}

void Outbox::open_credit(std::uint32_t subscription, const Credit& credit) {
  std::lock_guard lock(mutex_);
  queue_.open_lane(subscription, credit);
}

void Outbox::close_credit(std::uint32_t subscription) {
  std::unique_lock lock(mutex_);
  count_lost(queue_.close_lane(subscription));
  notify(std::move(lock));
}

bool Outbox::grant(std::uint32_t subscription, std::uint64_t rows, std::uint64_t bytes) {
  std::unique_lock lock(mutex_);
  if (!queue_.grant(subscription, rows, bytes)) return false;
  notify(std::move(lock));
  return true;
}

void Outbox::close() {
  std::unique_lock lock(mutex_);
  closed_ = true;
  notify(std::move(lock));
}

void Outbox::owe() {
  const std::lock_guard lock(mutex_);
  ++owed_;
}

void Outbox::paid() {
  std::unique_lock lock(mutex_);
  --owed_;
  if (!closes_behind_replies_ || owed_ > 0) return;
  closed_ = true;
  notify(std::move(lock));
}

void Outbox::close_behind_replies() {
  std::unique_lock lock(mutex_);
  closes_behind_replies_ = true;
  if (owed_ > 0) return;
  closed_ = true;
  notify(std::move(lock));
}

void Outbox::finish(protocol::Bytes last) {
  std::unique_lock lock(mutex_);
  if (!closed_) {
    count_lost(queue_.drop_waiting_for_credit());
    queue_.tell_losses();
    queue_.push(std::move(last));
  }
  closed_ = true;
  notify(std::move(lock));
}

void Outbox::overload(const Error& why) {
  std::unique_lock lock(mutex_);
  if (!closed_) overflow(why);
  notify(std::move(lock));
}

void Outbox::withdraw(const Error& why) {
  std::unique_lock lock(mutex_);
  if (!closed_) {
    report_.withdrawn = true;
    replace_by(why, wire::ErrorCode::NotFound);
  }
  notify(std::move(lock));
}

void Outbox::give_up() {
  std::unique_lock lock(mutex_);
  closed_ = true;
  count_lost(queue_.clear() + queue_.give_up_writing());
  if (awaited_) room_.notify_all();
}

void Outbox::abandon() {
  std::unique_lock lock(mutex_);
  closed_ = true;
  queue_.clear();
  if (awaited_) room_.notify_all();
}

std::vector<OutFrame> Outbox::take() {
  std::lock_guard lock(mutex_);
  notified_ = false;
  return queue_.take(kMostWritten);
}

void Outbox::written() {
  std::lock_guard lock(mutex_);
  queue_.written();
  note_bytes();
  if (awaited_) room_.notify_all();
}

bool Outbox::closed() const {
  std::lock_guard lock(mutex_);
  return closed_;
}

std::size_t Outbox::bytes() const {
  std::lock_guard lock(mutex_);
  return queue_.bytes();
}

Outbox::Report Outbox::report(bool all) {
  std::lock_guard lock(mutex_);
  if (all) report_.lost_rows += loss_log_.take_unsaid();
  return std::exchange(report_, {});
}

}  // namespace gorgo::server
