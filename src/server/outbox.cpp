#include "server/outbox.hpp"

#include <algorithm>
#include <utility>

#include "server/delivery.hpp"

namespace gorgo::server {

Outbox::Outbox(std::uint64_t id, std::string peer, const Limits& limits, std::function<void()> wake)
    : id_(id),
      peer_(std::move(peer)),
      max_bytes_(limits.outbound_bytes),
      policy_(limits.slow_consumer),
      wake_(std::move(wake)) {}

void Outbox::notify(std::unique_lock<std::mutex> lock) {
  // A writer that is busy writing must learn of the end too, for its deadline.
  const bool needed = !notified_ || closed_;
  notified_ = true;
  lock.unlock();
  if (needed) wake_();
}

Outbox::Outcome Outbox::push(std::unique_lock<std::mutex> lock, protocol::Bytes frame) {
  bytes_ += frame.size();
  frames_.push_back(std::move(frame));
  notify(std::move(lock));
  return Outcome::queued;
}

Outbox::Outcome Outbox::overflow(std::unique_lock<std::mutex> lock) {
  wire::ErrorT error;
  error.code = wire::ErrorCode::Overloaded;
  error.message = "more than " + std::to_string(max_bytes_) + " bytes wait for this client";
  error.hint = "read faster, subscribe to less, or raise limits.outbound_bytes";
  frames_.clear();
  frames_.push_back(protocol::encode(0, error));
  closed_ = true;
  notify(std::move(lock));
  return Outcome::overflowed;
}

Outbox::Outcome Outbox::reply(protocol::Bytes frame) {
  std::unique_lock lock(mutex_);
  if (closed_) return Outcome::closed;
  if (bytes_ + frame.size() > max_bytes_) return overflow(std::move(lock));
  return push(std::move(lock), std::move(frame));
}

Outbox::Outcome Outbox::deliver(protocol::Bytes frame, std::size_t rows) {
  std::unique_lock lock(mutex_);
  if (closed_) return Outcome::closed;
  if (bytes_ + frame.size() > max_bytes_) {
    if (policy_ == SlowConsumer::disconnect) return overflow(std::move(lock));
    lost_ += rows;
    dropped_ += rows;
    return Outcome::dropped;
  }
  if (lost_ > 0) set_lost(frame, std::exchange(lost_, 0));
  return push(std::move(lock), std::move(frame));
}

void Outbox::close() {
  std::unique_lock lock(mutex_);
  closed_ = true;
  notify(std::move(lock));
}

std::vector<protocol::Bytes> Outbox::take() {
  std::lock_guard lock(mutex_);
  notified_ = false;
  return std::exchange(frames_, {});
}

void Outbox::written(std::size_t bytes) {
  std::lock_guard lock(mutex_);
  bytes_ -= std::min(bytes, bytes_);  // the Error of an overflow was never counted
}

bool Outbox::closed() const {
  std::lock_guard lock(mutex_);
  return closed_;
}

std::uint64_t Outbox::dropped_rows() const {
  std::lock_guard lock(mutex_);
  return dropped_;
}

}  // namespace gorgo::server
