#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "protocol/framing.hpp"
#include "server/options.hpp"

namespace gorgo::server {

/// The bounded outbound queue of one session, and the session as other threads see it. Pushing
/// never blocks. Thread-safe; frames leave in the order in which they were pushed.
class Outbox {
 public:
  /// What became of a delivery.
  enum class Outcome : std::uint8_t {
    queued,
    dropped,     ///< the queue is full and the policy is to drop
    overflowed,  ///< the queue is full: from now on closed, its content replaced by an Error
    closed,
  };

  /// `wake` is called, without a lock held, when the writer should look again.
  Outbox(std::uint64_t id, std::string peer, const Limits& limits, std::function<void()> wake);

  std::uint64_t id() const { return id_; }
  const std::string& peer() const { return peer_; }

  /// A reply is never dropped; a full queue overflows.
  Outcome reply(protocol::Bytes frame);
  /// `frame` is a Deliver of `rows` rows; its `lost` is set here.
  Outcome deliver(protocol::Bytes frame, std::size_t rows);
  /// What is queued is still to be written, nothing more is taken.
  void close();

  /// For the writer: everything queued, in order. Counts as queued until `written`.
  std::vector<protocol::Bytes> take();
  void written(std::size_t bytes);
  bool closed() const;
  std::uint64_t dropped_rows() const;

 private:
  const std::uint64_t id_;
  const std::string peer_;
  const std::size_t max_bytes_;
  const SlowConsumer policy_;
  const std::function<void()> wake_;

  mutable std::mutex mutex_;  // guards all below; no other lock is taken while it is held
  std::vector<protocol::Bytes> frames_;
  std::size_t bytes_ = 0;   // queued and being written
  std::uint64_t lost_ = 0;  // rows dropped since the last delivery that was queued
  std::uint64_t dropped_ = 0;
  bool closed_ = false;
  bool notified_ = false;  // the writer was woken and has not looked yet

  Outcome push(std::unique_lock<std::mutex> lock, protocol::Bytes frame);
  Outcome overflow(std::unique_lock<std::mutex> lock);
  void notify(std::unique_lock<std::mutex> lock);
};

}  // namespace gorgo::server
