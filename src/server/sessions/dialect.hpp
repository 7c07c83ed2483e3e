#pragma once

#include <boost/asio/awaitable.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>

#include "server/subscriptions/delivery.hpp"

namespace gorgo::server {

class Session;

/// A protocol as one connection speaks it: makes request frames of the bytes that come, and bytes
/// of the reply and Deliver frames that leave. It is owned by its session and runs on the I/O
/// thread. An exception from a member ends the session.
class Dialect {
 public:
  virtual ~Dialect() = default;

  /// What operators call it.
  virtual std::string_view name() const = 0;
  /// Reads requests and submits them, until the client sends nothing more, may go on no longer, or
  /// `Session::stopping`. Then it holds nothing of what it has read.
  virtual boost::asio::awaitable<void> read() = 0;
  /// Throws away what still comes after `read`, until the client closes its side. Closing with
  /// unread bytes would reset the connection and could take replies with it that are on their way.
  virtual boost::asio::awaitable<void> discard() = 0;
  /// Writes what the frames say, in their order, and what the dialect has to say by itself.
  /// Returns whether the connection still works.
  virtual boost::asio::awaitable<bool> write(std::span<const OutFrame> frames) = 0;
  /// Says that this is the end, behind everything that was written, where the protocol has a way
  /// to.
  virtual boost::asio::awaitable<void> finish() { co_return; }
  /// Whether `write` should be called although no frame waits.
  virtual bool has_output() const { return false; }

  /// What a client is known to understand of heartbeats.
  enum class Heartbeat : std::uint8_t {
    none,
    shown,     ///< it may be shown one
    answered,  ///< and it answers
  };
  virtual Heartbeat heartbeat() const { return Heartbeat::none; }
  /// Has a heartbeat written.
  virtual void ping() {}
};

using DialectMaker = std::function<std::unique_ptr<Dialect>(Session&)>;

}  // namespace gorgo::server
